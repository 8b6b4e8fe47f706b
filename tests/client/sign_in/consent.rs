//! The page that asks a person before a sign-in begins.

use std::cell::Cell;

use edge_mcp::auth::Principal;
use edge_mcp::client::{McpClient, MemoryTokens, SignIn};
use edge_mcp::http::PageRequest;
use edge_mcp::testing::{self, Client};
use edge_mcp::{Context, Endpoint, HandlerError, McpServer};
use http::Request;
use serde_json::json;

use super::authorization_server::{ISSUER, RESOURCE_METADATA, SERVER_METADATA};
use super::browser::{Browser, Page, context};
use super::program::Program;

fn program() -> Program {
    Program::with(|sign_in| sign_in.scopes(["read"]).ask_consent())
}

const SAME_ORIGIN: &[(&str, &str)] = &[("Sec-Fetch-Site", "same-origin")];

/// Returns the query that the button of a page sends.
pub fn action(page: &Page) -> String {
    let action = page.text.split_once("action=\"").and_then(|(_, rest)| rest.split_once('"'));
    action.unwrap_or_else(|| panic!("no button: {page:?}")).0.replace("&amp;", "&")
}

/// Presses the button of the page, with these headers.
fn press(program: &Program, query: &str, person: &str, headers: &[(&str, &str)]) -> Page {
    let request = Request::post(format!("https://desk.example/sign-in{query}"));
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    program.begin(&context(request, &program.host, None), person)
}

/// C118: opening the link shows the server, the authorization server and the scopes, and begins nothing: there is no cookie and no redirect.
/// Only the button of the page begins the sign-in. No other page can show it in a frame.
#[test]
fn a_person_is_asked_before_a_sign_in_begins() {
    let program = program();
    program
        .authorization
        .change(RESOURCE_METADATA, &json!({ "scopes_supported": ["issues:<b>read</b>", "issues:write"] }));
    let link = program.link("ada");
    for query in [&*link, "?server=tracker"] {
        let opened = Browser::default().begin(&program, query, "ada");
        assert_eq!(
            (opened.status, opened.headers.get("location"), opened.cookies().len()),
            (200, None, 0),
            "{opened:?}"
        );
        let at = "<dt>You sign in at</dt><dd>https://auth.example</dd>";
        let shown = ["Desk asks for access", "<dd>tracker</dd>", "<dd>https://tracker.example/mcp</dd>", at, ISSUER];
        assert!(shown.iter().all(|text| opened.text.contains(text)), "{}", opened.text);
        assert!(
            !opened.text.contains("<b>") && opened.text.contains("<form method=\"post\" action=\"?"),
            "{}",
            opened.text
        );
        let policy = opened.headers.get("content-security-policy").expect("a policy").to_str().expect("ASCII");
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        for header in [("Sec-Fetch-Site", "same-origin"), ("Origin", "https://desk.example")] {
            let pressed = press(&program, &action(&opened), "ada", &[header]);
            assert_eq!((pressed.status, pressed.cookies().len()), (302, 1), "{pressed:?}");
        }
    }
    assert!(program.store.rows().is_empty());
}

/// C118: a server that needs something else than the page showed does not get it. The person sees the page again.
#[test]
fn a_person_allows_only_what_the_page_shows() {
    let program = program();
    program.authorization.change(RESOURCE_METADATA, &json!({ "scopes_supported": ["read"] }));
    let opened = Browser::default().begin(&program, "?server=tracker&return_to=/board", "ada");
    let query = action(&opened);
    assert!(query.starts_with("?server=tracker&return_to=%2Fboard&consent="), "{query}");
    program.authorization.change(RESOURCE_METADATA, &json!({ "scopes_supported": ["read", "delete"] }));
    for query in [&*query, "?server=tracker", "?server=tracker&consent=x"] {
        let again = press(&program, query, "ada", SAME_ORIGIN);
        assert_eq!((again.status, again.cookies().len()), (200, 0), "{query}");
        assert!(again.text.contains("<dd>read, delete</dd>"), "{}", again.text);
        assert_eq!(press(&program, &action(&again), "ada", SAME_ORIGIN).status, 302);
    }
    // No scope is cut off.
    let scopes: Vec<_> = (0..60).map(|nth| format!("a-long-scope-{nth:030}")).collect();
    program.authorization.change(RESOURCE_METADATA, &json!({ "scopes_supported": scopes }));
    let opened = Browser::default().begin(&program, "?server=tracker", "ada");
    assert!(opened.text.contains(&scopes.join(", ")), "{}", opened.text);
}

/// C117, C118: another site cannot press the button, and another person cannot use the link, neither to open it nor to press the button.
#[test]
fn only_the_page_itself_begins_for_its_person() {
    let program = program();
    let link = program.link("ada");
    for headers in [
        &[("Sec-Fetch-Site", "cross-site"), ("Origin", "https://desk.example")][..],
        &[("Sec-Fetch-Site", "same-site")],
        &[("Sec-Fetch-Site", "none")],
        &[("Origin", "https://evil.example")],
        &[("Origin", "null")],
        &[],
    ] {
        let page = press(&program, &link, "ada", headers);
        assert_eq!(
            page.refusal(),
            "This button must be pressed on the page of the program that has it.",
            "{headers:?}"
        );
    }
    let of_other = "This link was made for another person. Sign in to this program as that person.";
    assert_eq!(Browser::default().begin(&program, &link, "bob").refusal(), of_other);
    assert_eq!(press(&program, &link, "bob", SAME_ORIGIN).refusal(), of_other);
    let head = context(Request::head(format!("https://desk.example/sign-in{link}")), &program.host, None);
    assert_eq!(program.begin(&head, "ada").status, 405);
}

/// Without a consent, a POST is refused, as before.
#[test]
fn without_a_consent_there_is_no_button() {
    let program = Program::at("https://desk.example/sign-in", MemoryTokens::new(), SignIn::dynamic_registration);
    let page = press(&program, "?server=tracker", "ada", SAME_ORIGIN);
    assert_eq!(page.status, 405);
}

/// The page shows the host to which the browser goes. If an endpoint of the authorization server changes, the person sees the page again.
#[test]
fn a_person_allows_the_endpoints_of_the_authorization_server() {
    for (member, url) in [
        ("authorization_endpoint", "https://login.example/authorize"),
        ("authorization_endpoint", "https://auth.example/other"),
        ("token_endpoint", "https://login.example/token"),
        ("token_endpoint", "https://auth.example/other"),
    ] {
        let program = Program::with(|sign_in| sign_in.trust_issuer(ISSUER).ask_consent());
        let opened = Browser::default().begin(&program, "?server=tracker", "ada");
        program.authorization.change(SERVER_METADATA, &json!({ member: url }));
        let again = press(&program, &action(&opened), "ada", SAME_ORIGIN);
        assert_eq!((again.status, again.cookies().len()), (200, 0), "{again:?}");
        let is_host_shown = again.text.contains("<dt>You sign in at</dt><dd>https://login.example</dd>");
        assert_eq!(is_host_shown, url.starts_with("https://login.example/authorize"), "{}", again.text);
        assert!(again.text.contains(&format!("<dt>Authorization server</dt><dd>{ISSUER}</dd>")));
        assert_eq!(press(&program, &action(&again), "ada", SAME_ORIGIN).status, 302);
    }
}

async fn begin(_: PageRequest, cx: Context) -> Result<http::Response<Vec<u8>>, HandlerError> {
    Ok(cx.state::<SignIn>()?.begin(&*cx.state::<McpClient>()?, &cx, &Principal::new("ada")).await)
}

/// The button works through the endpoint, which checks the origin of a page. Browsers send it with the origin `null` if the page has the
/// referrer policy `no-referrer` (Fetch, "append a request `Origin` header").
#[test]
fn the_button_of_the_page_works_through_the_endpoint() {
    let program = program();
    let endpoint = Endpoint::new(|_| McpServer::builder("desk", "1.0.0").build())
        .without_auth()
        .open_to_the_public()
        .without_rate_limit()
        .state(program.client.clone())
        .state(program.sign_in.clone())
        .page("/sign-in", begin);
    let send = |method: &str, query: &str, headers: &[(&str, &str)]| {
        let request = Request::builder().method(method).uri(format!("https://desk.example/sign-in{query}"));
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let request = request.body(Cell::new(Vec::new())).expect("a request");
        testing::run(Client::new(&endpoint).host(&program.host).send(request))
    };
    let opened = send("GET", "?server=tracker", &[("sec-fetch-site", "none")]);
    assert_eq!(opened.status(), 200);
    let origin = match opened.header("referrer-policy") {
        Some("no-referrer") => "null",
        _ => "https://desk.example",
    };
    let headers = opened.headers().clone();
    let text = String::from_utf8(opened.body().to_vec()).expect("UTF-8");
    let query = action(&Page { status: 200, headers, text });
    let form = ("content-type", "application/x-www-form-urlencoded");
    let pressed = send("POST", &query, &[form, ("sec-fetch-site", "same-origin"), ("origin", origin)]);
    let location = pressed.header("location").unwrap_or_default();
    assert!(pressed.status() == 302 && location.starts_with(ISSUER), "{} {location}", pressed.status());
    // The policy keeps the ticket and the code from other sites.
    assert_eq!(opened.header("referrer-policy"), Some("same-origin"));
    // Another site cannot press the button.
    let foreign = send("POST", &query, &[form, ("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")]);
    assert_eq!(foreign.status(), 403);
}
