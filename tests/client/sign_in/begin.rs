//! The first page of a sign-in.

use std::time::Duration;

use edge_mcp::auth::Principal;
use edge_mcp::client::MemoryTokens;
use http::Method;
use serde_json::json;

use super::authorization_server::{AUTHORIZE, ISSUER, REGISTER, RESOURCE_METADATA, Reply, SERVER_METADATA, TRACKER};
use super::browser::{Browser, Page, altered, context, run};
use super::program::{PAGE, Program, keys, own_client};
use super::tracker::unauthorized;
use crate::peer::Answer;

const SERVER: &str = "?server=tracker";
const NAME: &str = "__Host-mcp-sign-in-";

/// Opens the first page in a new browser.
fn begin(program: &Program, query: &str) -> Page {
    Browser::default().begin(program, query, "ada")
}

/// C63, C70, C79: the browser is sent to the authorization server, with each parameter of the specification. Nothing is in the store.
#[test]
fn the_browser_is_sent_to_the_authorization_server() {
    let program = Program::with(|sign_in| sign_in.scopes(["read", "write"]));
    let page = begin(&program, SERVER);
    assert_eq!((page.status, page.text.as_str()), (302, ""));
    assert!(page.location().starts_with(&format!("{AUTHORIZE}?response_type=code&")), "{page:?}");
    for (name, expected) in [
        ("client_id", "https://desk.example/sign-in/client.json"),
        ("redirect_uri", "https://desk.example/sign-in/callback"),
        ("resource", TRACKER),
        ("code_challenge_method", "S256"),
        ("scope", "read write"),
    ] {
        assert_eq!(page.parameter(name).as_deref(), Some(expected));
    }
    // Both are digests or random texts of 32 bytes.
    for name in ["state", "code_challenge"] {
        assert_eq!(page.parameter(name).map(|value| value.len()), Some(43), "{name}");
    }
    assert!(program.store.rows().is_empty());
    assert_eq!(
        *program.events.borrow(),
        [
            "call ".to_owned(),
            "get".to_owned(),
            format!("fetch {RESOURCE_METADATA}"),
            format!("fetch {SERVER_METADATA}"),
        ]
    );
    let probe = &program.tracker.requests()[0];
    assert_eq!((probe.method(), probe.headers().get("authorization")), (&Method::POST, None));
}

/// The request that asks for the challenge follows a redirect to another path of the server.
#[test]
fn the_challenge_is_found_behind_a_redirect() {
    for (location, scope) in [("/mcp/", Some("a b")), ("https://other.example/mcp", None)] {
        let program = Program::new();
        program.tracker.answer(Answer::new(307, "", "").header("location", location));
        program.tracker.answer(unauthorized(r#"Bearer scope="a b""#));
        assert_eq!(begin(&program, SERVER).parameter("scope").as_deref(), scope, "{location}");
        let urls: Vec<_> = program.tracker.requests().iter().map(|request| request.uri().to_string()).collect();
        let followed = scope.map(|_| "https://tracker.example/mcp/".to_owned());
        assert_eq!(urls, [TRACKER.to_owned()].into_iter().chain(followed).collect::<Vec<_>>());
    }
}

/// C63: the cookie is only for this host and for its scripts invisible. A browser that uses http has no `__Host-` cookies.
#[test]
fn a_cookie_has_the_state() {
    let page = begin(&Program::new(), SERVER);
    let state = page.parameter("state").expect("a state");
    let [cookie] = page.cookies()[..] else { panic!("{page:?}") };
    let (pair, attributes) = cookie.split_once("; ").expect("attributes");
    assert_eq!(pair.split_once('=').expect("a value").0, format!("{NAME}{}", state.get(..8).expect("a state")));
    assert_eq!(attributes, "HttpOnly; Secure; SameSite=Lax; Path=/; Max-Age=600");
    assert!(!cookie.contains(&state) && !cookie.contains("tracker"), "{cookie}");

    let program = Program::at("http://localhost:8787/sign-in", MemoryTokens::new(), |sign_in| {
        sign_in.client(own_client(ISSUER, "desk"))
    });
    let page = begin(&program, SERVER);
    let [cookie] = page.cookies()[..] else { panic!("{page:?}") };
    assert!(cookie.starts_with("mcp-sign-in-"), "{cookie}");
    assert!(cookie.ends_with("; HttpOnly; SameSite=Lax; Path=/; Max-Age=600"), "{cookie}");
    assert_eq!(page.parameter("redirect_uri").as_deref(), Some("http://localhost:8787/sign-in/callback"));
}

/// C63: a browser has at most 4 sign-ins at the same time. The fifth one deletes the cookie of the first one, and no other cookie.
#[test]
fn the_oldest_cookie_is_deleted() {
    let (program, mut browser) = (Program::new(), Browser::default());
    browser.0.push(("session".to_owned(), "1".to_owned()));
    for count in 1..=4 {
        browser.begin(&program, SERVER, "ada");
        assert_eq!(browser.0.len(), count + 1);
    }
    let oldest = browser.0[1].0.clone();
    let page = browser.begin(&program, SERVER, "ada");
    let [deleted, set] = page.cookies()[..] else { panic!("{page:?}") };
    assert_eq!(deleted, format!("{oldest}=; HttpOnly; Secure; SameSite=Lax; Path=/; Max-Age=0"));
    assert!(set.ends_with("Max-Age=600"), "{set}");
    assert_eq!((browser.0.len(), browser.0[0].0.as_str()), (5, "session"));
    // A browser that has still more of them: all but three are deleted.
    for number in 0..3 {
        browser.0.insert(1, (format!("{NAME}ABCDEFG{number}"), "x".to_owned()));
    }
    let page = browser.begin(&program, SERVER, "ada");
    assert_eq!((page.cookies().len(), browser.0.len()), (5, 5));
}

/// C63: a browser sends the states with each request to this host, and some servers accept 16 KiB of headers. So all states have at most 7 KiB.
#[test]
fn the_cookies_of_a_browser_are_bounded() {
    let (program, mut browser) = (Program::new(), Browser::default());
    let scopes: Vec<_> = (0..32).map(|number| format!("{number:050}")).collect();
    program.authorization.change(RESOURCE_METADATA, &json!({ "scopes_supported": scopes }));
    for count in [1, 2, 2, 2] {
        let page = browser.begin(&program, SERVER, "ada");
        assert_eq!((page.status, browser.0.len()), (302, count));
        assert!(browser.header().len() < 7400, "{}", browser.header().len());
    }
    // The newest one is that of this sign-in.
    let state = browser.begin(&program, SERVER, "ada").parameter("state").expect("a state");
    assert_eq!(browser.finish(&program, &format!("?code=c&state={state}"), "ada").status, 200);
}

/// C63: a state of more than 3.5 KB is not sent, because the browser would not store it.
#[test]
fn a_long_state_is_refused() {
    let program = Program::new();
    let scopes = |length: usize| (0..32).map(|n| format!("{n:0length$}")).collect::<Vec<_>>();
    program.authorization.change(RESOURCE_METADATA, &json!({ "scopes_supported": scopes(50) }));
    assert!(begin(&program, SERVER).cookies()[0].len() > 2500);
    program.authorization.change(RESOURCE_METADATA, &json!({ "scopes_supported": scopes(80) }));
    let page = begin(&program, SERVER);
    assert_eq!(page.refusal(), "The authorization server has URLs or scopes that are too long.");
    assert!(page.cookies().is_empty());
}

/// C65: a link is for one person and 10 minutes. A text that is no ticket of this program is refused, also if it has the same keys.
#[test]
fn a_link_is_for_one_person() {
    const INVALID: &str = "This link is not valid. Call the tool again.";
    let program = Program::new();
    let link = program.link("ada");
    let mut browser = Browser::default();
    assert_eq!(browser.begin(&program, &link, "ada").status, 302);

    let page = browser.begin(&program, &link, "bob");
    let other = "This link was made for another person. Sign in to this program as that person.";
    assert_eq!(page.refusal(), other);
    assert!(page.cookies().is_empty() && program.host.log_text().contains("opened by another person"));
    // The same subject of another issuer is another person.
    let cx = Browser::default().context(&program.host, "", &link, &[]);
    let mut person = Principal::new("ada");
    person.issuer = Some("https://other.example".to_owned());
    let page = Page::read(run(&program.host, program.sign_in.begin(&program.client, &cx, &person)));
    assert_eq!(page.refusal(), other);

    // Other texts that this program has encrypted: the cookie, and the rows of the store.
    program.sign_in_at(&link, "ada");
    let mut texts: Vec<String> = program.store.rows().into_values().collect();
    assert_eq!(texts.len(), 2);
    texts.extend(browser.0.iter().map(|(_, value)| value.clone()));
    let sealed = link.strip_prefix("?ticket=").expect("a ticket").to_owned();
    texts.extend([altered(&sealed), String::new(), "x".to_owned(), "\u{e9}".to_owned(), "A".repeat(5000)]);
    for text in texts {
        assert_eq!(begin(&program, &format!("?ticket={text}")).refusal(), INVALID, "{text}");
    }
    let stranger = program.again("another-key-which-has-more-than-32-bytes", |sign_in| sign_in);
    assert_eq!(begin(&stranger, &link).refusal(), INVALID);
    // A parameter `server` does not replace a ticket that is not valid.
    assert_eq!(begin(&program, "?ticket=x&server=tracker").refusal(), INVALID);

    let link = program.again(super::program::KEY, |sign_in| sign_in).link("bob");
    program.host.advance(Duration::from_secs(599));
    assert_eq!(browser.begin(&program, &link, "bob").status, 302);
    program.host.advance(Duration::from_secs(1));
    assert_eq!(browser.begin(&program, &link, "bob").refusal(), "This link has expired. Call the tool again.");
}

/// C66: a link without a ticket names a server of this program with a sign-in. Another site cannot use such a link.
#[test]
fn a_link_of_the_program_names_a_server() {
    let program = Program::new();
    let unknown = "This program has no server of this name with a sign-in.";
    for (query, expected) in [
        ("?server=%3Cb%3Eevil", unknown),
        ("?server=public", unknown),
        ("?server=", unknown),
        ("", "This link is not complete. Call the tool again."),
        ("?return_to=/x", "This link is not complete. Call the tool again."),
    ] {
        let page = begin(&program, query);
        assert_eq!(page.refusal(), expected, "{query}");
        assert!(!page.text.contains("evil"));
    }
    for (site, status) in [("cross-site", 400), ("same-origin", 302), ("none", 302)] {
        let cx = Browser::default().context(&program.host, "", SERVER, &[("sec-fetch-site", site)]);
        assert_eq!(program.begin(&cx, "ada").status, status, "{site}");
    }
    // The client of the caller opens the link of a call.
    let cx = Browser::default().context(&program.host, "", &program.link("ada"), &[("sec-fetch-site", "cross-site")]);
    assert_eq!(program.begin(&cx, "ada").status, 302);
}

/// C63: the browser returns only to a path of this program.
#[test]
fn the_browser_returns_to_a_path_of_the_program() {
    for (return_to, expected) in [
        ("/board?a=1&b=2", Some("/board?a=1&b=2")),
        ("/", Some("/")),
        ("//evil.example", None),
        ("/\\evil.example", None),
        ("/a\\b", None),
        ("https://evil.example/", None),
        ("https:evil.example", None),
        ("javascript:alert(1)", None),
        ("board", None),
        ("", None),
        ("/a\r\nSet-Cookie: a=b", None),
        ("/\t/evil.example", None),
        ("/a b", None),
        ("/\u{e9}", None),
    ] {
        let (program, mut browser) = (Program::new(), Browser::default());
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("server", "tracker")
            .append_pair("return_to", return_to)
            .finish();
        let state = browser.begin(&program, &format!("?{query}"), "ada").parameter("state").expect("a state");
        let page = browser.finish(&program, &format!("?code=c&state={state}&return_to=/evil"), "ada");
        match expected {
            Some(path) => assert_eq!((page.status, page.location()), (303, path)),
            None => assert_eq!((page.status, page.headers.get("location")), (200, None), "{return_to}"),
        }
    }
}

/// C71: the first page sends at most 8 requests, in at most 5 s each, also if all documents are at the last place and the client registers.
#[test]
fn the_first_page_sends_few_requests() {
    let issuer = format!("{ISSUER}/tenant");
    let program = Program::with(edge_mcp::client::SignIn::dynamic_registration);
    program.authorization.reply(RESOURCE_METADATA, Reply::text(404, ""));
    let root = "https://tracker.example/.well-known/oauth-protected-resource";
    program.authorization.change(root, &json!({ "resource": TRACKER, "authorization_servers": [issuer] }));
    let document = json!({
        "issuer": issuer, "authorization_endpoint": AUTHORIZE, "token_endpoint": "https://auth.example/token",
        "registration_endpoint": REGISTER, "code_challenge_methods_supported": ["S256"],
    });
    program.authorization.change(&format!("{issuer}/.well-known/openid-configuration"), &document);
    assert_eq!(begin(&program, SERVER).status, 302);
    assert_eq!(program.host.requests().len() + program.tracker.requests().len(), 7);

    program.authorization.reply(RESOURCE_METADATA, Reply::silence());
    let page = begin(&program, SERVER);
    let expected = "You cannot sign in to the server tracker, because its protected resource metadata cannot be reached. Try again later.";
    assert_eq!((page.refusal(), program.host.waits()), (expected, vec![Duration::from_secs(5)]));
}

/// C79: a page without a ticket asks the server for its challenge. With a ticket, the challenge of the call counts.
#[test]
fn the_challenge_of_the_server_counts() {
    let other = "https://tracker.example/metadata";
    let challenge = format!(r#"Bearer resource_metadata="{other}", scope="a b""#);
    let program = Program::with(|sign_in| sign_in.scopes(["own"]));
    program.authorization.change(
        other,
        &json!({
            "resource": "https://TRACKER.example/mcp/", "authorization_servers": [ISSUER], "scopes_supported": ["m"],
        }),
    );
    program.tracker.answer(unauthorized(&challenge));
    let page = begin(&program, SERVER);
    // The resource is sent as the server writes it.
    assert_eq!(page.parameter("resource").as_deref(), Some("https://TRACKER.example/mcp/"));
    assert_eq!(page.parameter("scope").as_deref(), Some("a b"));

    program.tracker.answer(unauthorized(&challenge));
    let link = program.link("ada");
    let calls = program.tracker.requests().len();
    assert_eq!(begin(&program, &link).parameter("scope").as_deref(), Some("a b"));
    assert_eq!(program.tracker.requests().len(), calls);
}

/// Programs that look at a link use other methods. They begin nothing.
#[test]
fn other_methods_are_refused() {
    let program = Program::new();
    for method in [Method::HEAD, Method::POST, Method::OPTIONS] {
        for path in ["?server=tracker", "/callback?code=c&state=AAAAAAAAAAAA"] {
            let request = http::Request::builder().method(&method).uri(format!("{PAGE}{path}"));
            let (cx, person) = (context(request, &program.host, None), Principal::new("ada"));
            let page = if path.starts_with('?') {
                program.begin(&cx, "ada")
            } else {
                Page::read(run(&program.host, program.sign_in.finish(&cx, &person)))
            };
            assert_eq!((page.status, page.sentence()), (405, "Open this page in a browser."));
        }
    }
    assert!(program.events.borrow().is_empty());
}

/// A page fails if its store fails. Only the log has the cause.
#[test]
fn a_store_that_fails_ends_the_page() {
    let program = Program::new();
    program.store.fail_after(0);
    let page = Browser::default().begin(&program, SERVER, "ada");
    assert_eq!((page.status, page.sentence()), (500, "The sign-in failed. Try again later."));
    assert!(program.host.log_text().contains("STORE-DETAIL"));
}

/// The URL of the first page and the keys are checked.
#[test]
fn the_settings_are_checked() {
    use edge_mcp::client::{SignIn, TokenKeys};
    let settings = |url: &str| SignIn::new("Desk", url, keys(super::program::KEY), MemoryTokens::new());
    for (url, is_valid) in [
        (PAGE, true),
        ("https://desk.example/", true),
        ("http://localhost:8787/sign-in", true),
        ("http://desk.example/sign-in", false),
        ("https://desk.example/sign-in?a=b", false),
        ("https://desk.example/sign-in#a", false),
        ("sign-in", false),
    ] {
        assert_eq!(settings(url).is_ok(), is_valid, "{url}");
    }
    let sign_in = settings(PAGE).expect("settings").client(own_client(ISSUER, "desk").secret("SECRET-client"));
    assert!(!format!("{sign_in:?}").contains("SECRET") && !format!("{sign_in:?}").contains(super::program::KEY));
    for url in ["http://localhost/client.json", "https://desk.example", "https://desk.example/", "x"] {
        assert!(sign_in.clone().document_at(url).is_err(), "{url}");
    }
    for text in [None, Some(""), Some("short"), Some("0123456789abcdef0123456789abcdef short")] {
        assert!(TokenKeys::from_text("MCP_TOKEN_KEY", text).is_err());
    }
}
