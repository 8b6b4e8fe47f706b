//! The landing page: the requests that get it, and its content.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use edge_mcp::auth::ProtectedResource;
use edge_mcp::http::PageRequest;
use edge_mcp::testing;
use edge_mcp::{BuildError, ConfigError, Context, Endpoint, McpServer, StaticTokens};
use sha2::{Digest, Sha256};

use crate::support::{Answer, Ask, endpoint, post, server};

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";

/// Sends the request, and returns the response with its text.
fn asked(ask: Ask, endpoint: &Endpoint) -> (Answer, String) {
    let answer = ask.document(endpoint);
    let text = String::from_utf8(answer.body().to_vec()).expect("UTF-8");
    (answer, text)
}

fn get(path: &str) -> Ask {
    post("").verb("GET").at(path).without("Content-Type")
}

fn page(endpoint: &Endpoint) -> (Answer, String) {
    asked(get("/").header("Accept", BROWSER), endpoint)
}

fn guarded() -> Endpoint {
    let tokens = r#"[{"token":"good","subject":"ada","scopes":[]}]"#;
    Endpoint::new(server)
        .auth(StaticTokens::from_json("MCP_STATIC_TOKENS", Some(tokens)).expect("tokens"))
        .without_rate_limit()
}

fn configured(value: &'static str) -> Endpoint {
    let environment = testing::variables(&[("MCP_AUTH", "none"), ("MCP_PAGE", value)]);
    Endpoint::new(server).without_rate_limit().configured(&environment)
}

/// Returns the page of a server with this title, description and website.
fn page_of(title: &'static str, description: &'static str, website: &'static str) -> String {
    let server =
        move |_: &_| McpServer::builder("s", "1").title(title).description(description).website_url(website).build();
    page(&Endpoint::new(server).without_auth()).1
}

/// Returns the text between the first `start` and the next `end`.
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let (_, after) = text.split_once(start).expect(start);
    after.split_once(end).expect(end).0
}

/// A GET or HEAD request at `/` that names HTML in `Accept` gets the page. A request that accepts any text gets it in Markdown. Other
/// requests get 404, or 405 at the path of the endpoint.
#[test]
fn requests_that_accept_html_get_the_page() {
    let at_root = || endpoint().path("/");
    for (case, ask, endpoint, status) in vec![
        ("a browser", get("/").header("Accept", BROWSER), endpoint(), 200),
        ("a query", get("/?utm=1").header("Accept", BROWSER), endpoint(), 200),
        ("another letter case", get("/").header("Accept", "Text/HTML"), endpoint(), 200),
        ("HEAD", get("/").verb("HEAD").header("Accept", "text/html"), endpoint(), 200),
        ("no token", get("/").header("Accept", "text/html"), guarded(), 200),
        (
            "an allowed origin",
            get("/").header("Accept", BROWSER).header("Origin", "http://localhost:1"),
            endpoint(),
            200,
        ),
        (
            "another origin",
            get("/").header("Accept", BROWSER).header("Origin", "https://evil.example"),
            endpoint(),
            403,
        ),
        ("any type of another origin", get("/").header("Origin", "https://evil.example"), endpoint(), 403),
        ("JSON", get("/").header("Accept", "application/json"), endpoint(), 404),
        ("any type, and an event stream", get("/").header("Accept", "*/*, text/event-stream"), endpoint(), 404),
        ("everything except Markdown", get("/").header("Accept", "*/*, text/markdown;q=0"), endpoint(), 404),
        ("any type at an endpoint at /", get("/").header("Accept", "*/*"), at_root(), 405),
        ("no Accept at an endpoint at /", get("/"), at_root(), 405),
        ("any type, off", get("/").header("Accept", "*/*"), endpoint().without_page(), 404),
        ("any type by POST", get("/").verb("POST").header("Accept", "*/*"), endpoint(), 308),
        ("an event stream", get("/").header("Accept", "text/html, text/event-stream"), endpoint(), 404),
        ("POST", get("/").verb("POST").header("Accept", BROWSER), endpoint(), 308),
        ("OPTIONS", get("/").verb("OPTIONS").header("Accept", BROWSER), endpoint(), 404),
        ("another path", get("/index.html").header("Accept", BROWSER), endpoint(), 404),
        ("a browser at an endpoint at /", get("/").header("Accept", BROWSER), at_root(), 200),
        ("a client at an endpoint at /", get("/").header("Accept", "text/event-stream"), at_root(), 405),
        ("a client that also accepts HTML", get("/").header("Accept", "text/html, text/event-stream"), at_root(), 405),
        ("DELETE at an endpoint at /", get("/").verb("DELETE").header("Accept", BROWSER), at_root(), 405),
        ("off", get("/").header("Accept", BROWSER), endpoint().without_page(), 404),
        ("on in the environment", get("/").header("Accept", BROWSER), configured("on"), 200),
        ("an empty variable", get("/").header("Accept", BROWSER), configured(""), 200),
        ("off in the environment", get("/").header("Accept", BROWSER), configured("off"), 404),
        ("off in the program", get("/").header("Accept", BROWSER), configured("on").without_page(), 404),
    ] {
        let (response, body) = asked(ask, &endpoint);
        assert_eq!(response.status(), status, "{case}");
        assert_eq!(body.starts_with("<!doctype html>"), status == 200 && case != "HEAD", "{case}");
        assert_eq!(response.headers().contains_key("content-security-policy"), status == 200, "{case}");
    }
    assert_eq!(asked(post("{}").at("/"), &at_root()).0.status(), 400, "the endpoint still reads messages");
    let form =
        endpoint().page("/", async |_: PageRequest, _: Context| Ok(http::Response::new("a page of the program")));
    assert_eq!(asked(post("{}").at("/"), &form).1, "a page of the program");
}

/// A person who opens the URL of the endpoint learns what it is. The status is that of all GETs.
#[test]
fn a_browser_at_the_endpoint_gets_a_page_that_says_what_it_is() {
    for (endpoint, path, has_link) in
        [(endpoint(), "/mcp", true), (guarded(), "/mcp/", true), (endpoint().path("/").without_page(), "/", false)]
    {
        let (response, body) = asked(get(path).header("Accept", BROWSER), &endpoint);
        assert_eq!((response.status(), response.headers()["allow"].as_bytes()), (405, &b"POST, OPTIONS"[..]), "{path}");
        assert!(body.contains("This is the address of an MCP server."), "{body}");
        assert_eq!(body.contains("<a href=/>"), has_link, "{body}");
    }
    let (client, body) = asked(get("/mcp").header("Accept", "text/html, text/event-stream"), &endpoint());
    assert_eq!(
        (client.status(), &client.headers()["content-type"]),
        (405.try_into().expect("a status"), &"application/json".parse().expect("a value"))
    );
    assert!(body.contains("needs a session"), "{body}");
}

/// `curl /` shows the text of the page in Markdown. It says where the endpoint is, and how to open the page.
#[test]
fn programs_without_a_browser_get_the_page_in_markdown() {
    let text = |accept: Option<&'static str>, method: &'static str, endpoint: &Endpoint| {
        let ask = get("/").verb(method);
        asked(accept.map_or_else(|| get("/").verb(method), |accept| ask.header("Accept", accept)), endpoint)
    };
    let (first, markdown) = text(Some("*/*"), "GET", &endpoint());
    for accept in [None, Some(""), Some("text/*"), Some("text/markdown, text/html, */*"), Some("*/*, text/html;q=0")] {
        for endpoint in [endpoint(), guarded()] {
            let (answer, body) = text(accept, "GET", &endpoint);
            assert_eq!((answer.status(), &*body), (200, &*markdown), "{accept:?}");
            let (head, body) = text(accept, "HEAD", &endpoint);
            assert_eq!((head.headers(), &*body), (first.headers(), ""), "{accept:?}");
        }
    }
    assert_eq!(text(Some("text/markdown"), "GET", &endpoint().path("/")).0.status(), 200);
    assert_eq!(first.headers()["content-type"], "text/markdown; charset=utf-8");
    assert_eq!(
        (&first.headers()["vary"], &first.headers()["cache-control"]),
        (&"Accept".parse().expect("a value"), &"no-store".parse().expect("a value"))
    );
    assert!(!first.headers().contains_key("content-security-policy"));
    let start = "# Specimen\n\nOne of everything.\n\n- Endpoint: http://localhost/mcp\n- Name: specimen 1.2.3\n- Protocol: 2026-07-28,";
    assert!(markdown.starts_with(start), "{markdown}");
    for said in ["open this URL in a browser", "curl -s http://localhost/mcp -H", "- Website: https://example.com\n"] {
        assert!(markdown.contains(said), "{said}: {markdown}");
    }
    assert!(!markdown.contains("{{"));

    // A text of the server cannot control a terminal, and its line breaks do not add lines.
    let hostile = |_: &_| McpServer::builder("s", "1").title("T\u{1b}[2J\n- Endpoint: https://evil.example").build();
    let (_, markdown) = text(None, "GET", &Endpoint::new(hostile).without_auth());
    assert!(markdown.starts_with("# T[2J - Endpoint: https://evil.example\n"), "{markdown}");
    assert!(!markdown.contains("Website") && !markdown.contains("{{"), "{markdown}");
}

/// The environment can turn the page off, and the program can as well. The program takes precedence.
#[test]
fn the_page_can_be_turned_off() {
    let variable =
        |page: Option<&'static str>| move |name: &str| if name == "MCP_PAGE" { page.map(str::to_owned) } else { None };
    for (value, status) in [(None, 200), (Some("on"), 200), (Some("off"), 404)] {
        assert_eq!(page(&endpoint().configured(&variable(value))).0.status(), status, "{value:?}");
        assert_eq!(page(&endpoint().without_page().configured(&variable(value))).0.status(), 404, "{value:?}");
    }
}

/// If an endpoint cannot serve requests, the response is 503 instead of the page.
#[test]
fn a_closed_endpoint_has_no_page() {
    let elsewhere = |endpoint: Endpoint| asked(get("https://kb.example.com/").header("Accept", BROWSER), &endpoint);
    let broken = Endpoint::new(|_| Err(BuildError::new("server", "s", "is odd"))).without_auth();
    let jwt = |name: &str| match name {
        "MCP_AUTH" => Some("jwt".to_owned()),
        "MCP_ISSUER" => Some("https://auth.example".to_owned()),
        "MCP_JWKS_URL" => Some("https://auth.example/jwks".to_owned()),
        _ => None,
    };
    for (case, (response, body), says) in [
        ("no decision about authentication", page(&Endpoint::new(server)), "without_auth"),
        ("misconfigured", page(&Endpoint::misconfigured(ConfigError::new("DB", "is not bound"))), "DB"),
        ("an invalid setting", page(&configured("yes")), "MCP_PAGE"),
        ("a server that cannot be built", page(&broken), "Its log says why"),
        ("open, but only on localhost", elsewhere(endpoint()), "MCP_ALLOW_PUBLIC"),
        ("no URL", elsewhere(Endpoint::new(server).configured(&jwt)), "MCP_RESOURCE"),
    ] {
        assert_eq!(response.status(), 503, "{case}");
        assert!(body.starts_with('{') && body.contains(says), "{case}: {body}");
    }
    assert_eq!(elsewhere(endpoint().open_to_the_public()).0.status(), 200);
    assert_eq!(elsewhere(guarded()).0.status(), 200);
}

/// Checks that the content security policy allows only the style and the script of the page, and returns these two. The script can connect
/// only to this server.
fn check_policy<'h>(response: &Answer, html: &'h str) -> [&'h str; 2] {
    let header = |name: &str| response.headers()[name].to_str().expect("ASCII").to_owned();
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let (style, script) = (between(html, "<style>", "</style>"), between(html, "module\">", "</script>"));
    assert!(style.contains("color-scheme") && script.contains("server/discover"));
    let expected = format!(
        "default-src 'none'; script-src {}; style-src {}; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'; require-trusted-types-for 'script'",
        hash(script),
        hash(style)
    );
    assert_eq!(header("content-security-policy"), expected);
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cache-control", "no-store"),
        ("vary", "Accept"),
    ] {
        assert_eq!(header(name), value, "{name}");
    }
    // A policy with hashes blocks all inline attributes and external resources.
    let around = html.replace(style, "").replace(script, "");
    for inline in [" style=", " onclick=", " onload=", "javascript:", " src=", "@import", "url("] {
        assert!(!around.contains(inline) && !style.contains(inline), "{inline}");
    }
    for sink in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "localStorage", "cookie"] {
        assert!(!script.contains(sink), "{sink}");
    }
    [style, script]
}

/// The content security policy allows only the content of the page.
#[test]
fn the_policy_allows_only_the_content_of_the_page() {
    let (response, html) = page(&endpoint());
    check_policy(&response, &html);
}

/// The search box adds the name of its tool, style and script to the page. The rest of the page is the same, byte for byte.
#[test]
fn the_search_box_only_adds_to_the_page() {
    let (response, plain) = page(&endpoint());
    let [style, script] = check_policy(&response, &plain);
    assert!(plain.contains(" data-search=\"\">"));
    // The code that shows passages is not in the page either.
    let own = [(script, "dataset.search"), (script, "function markdown("), (style, ".passage")];
    assert!(own.iter().all(|(part, text)| !part.contains(text)));

    let (response, html) = page(&endpoint().page_search("search-<passages>"));
    let [longer_style, longer_script] = check_policy(&response, &html);
    for (longer, base) in [(longer_style, style), (longer_script, script)] {
        assert!(longer.len() > base.len() && longer.starts_with(base));
    }
    for (part, text) in [(longer_script, own[0].1), (longer_script, own[1].1), (longer_style, own[2].1)] {
        assert!(part.contains(text), "{text}");
    }
    let tool = "search-&lt;passages&gt;";
    assert!(html.contains(&format!(" data-search=\"{tool}\">")));
    let rest = html.replace(longer_style, style).replace(longer_script, script).replace(tool, "");
    assert_eq!(rest, plain);
}

/// HEAD returns the headers of GET without a body.
#[test]
fn head_is_get_without_a_body() {
    let (whole, _) = page(&endpoint());
    let (head, body) = asked(get("/").verb("HEAD").header("Accept", BROWSER), &endpoint());
    assert_eq!((head.headers(), body.as_str()), (whole.headers(), ""));
}

/// The texts of a server are escaped.
#[test]
fn texts_of_the_server_are_escaped() {
    const HOSTILE: &str = "</title><script>alert(1)</script>\"'&<img src=x onerror=alert(2)>{{script}}";
    const ESCAPED: &str = "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;&lt;img src=x \
                           onerror=alert(2)&gt;{{script}}";
    let plain = page_of("T", "D", "");
    for html in [page_of(HOSTILE, "D", ""), page_of("T", HOSTILE, "")] {
        assert!(!html.contains("<script>alert") && !html.contains("<img"));
        assert_eq!(html.matches(ESCAPED).count(), 2);
        assert_eq!(html.matches('<').count(), plain.matches('<').count(), "the text adds no tags");
    }
    let elsewhere = page(&endpoint().path("/\"><b>")).1;
    assert!(elsewhere.contains("data-path=\"/&quot;&gt;&lt;b&gt;\"") && !elsewhere.contains("<b>"));
}

/// Only `http:` and `https:` URLs are links.
#[test]
fn only_http_urls_are_links() {
    for (website, href) in [
        ("https://example.com/a?b&c", "https://example.com/a?b&amp;c"),
        ("http://example.com", "http://example.com"),
        ("javascript:alert(1)", ""),
        ("data:text/html,x", ""),
        ("//example.com", ""),
        ("", ""),
    ] {
        let html = page_of("T", "D", website);
        assert_eq!(between(&html, "Website</dt><dd><a href=\"", "\""), href, "{website}");
    }
}

/// The style keeps the line breaks of hints, because descriptions of a server can have some.
#[test]
fn no_hint_of_the_page_breaks_within_a_sentence() {
    let (_, html) = page(&guarded());
    assert!(html.contains("class=\"hint\""), "{html}");
    let breaks = html.split("class=\"hint\"").skip(1).any(|hint| between(hint, ">", "</p>").contains('\n'));
    assert!(!breaks, "{html}");
}

/// The page shows the texts of the server, but no tools, resources or prompts. Only callers that may list them can see them.
#[test]
fn the_page_does_not_show_tools_resources_or_prompts() {
    for endpoint in [endpoint(), guarded()] {
        let (_, html) = page(&endpoint);
        assert_eq!(between(&html, "<title>", "</title>"), "Specimen");
        assert_eq!(between(&html, "<h1>", "</h1>"), "Specimen");
        for said in
            ["One of everything.", "specimen 1.2.3", "https://example.com", "2026-07-28, 2025-11-25, 2025-06-18"]
        {
            assert!(html.contains(said), "{said}");
        }
        for offered in ["Says it.", "whoami", "test://", "analyze", "Say it once."] {
            assert!(!html.contains(offered), "{offered}");
        }
        assert!(!html.contains("{{"));
    }
    let (_, untitled) = page(&Endpoint::new(|_| McpServer::builder("plain-name", "1").build()).without_auth());
    assert_eq!(between(&untitled, "<h1>", "</h1>"), "plain-name");
}

/// The page shows the configured URL of the endpoint, or its URL on localhost. It does not repeat another host of a request.
#[test]
fn the_page_does_not_repeat_the_host_of_a_request() {
    let known = ProtectedResource::at("https://kb.example.com/mcp").expect("a URL");
    let at = |url: &str, endpoint: &Endpoint| asked(get(url).header("Accept", BROWSER), endpoint).1;
    for (html, url, address) in [
        (at("http://127.0.0.1:8787/", &guarded()), "http://127.0.0.1:8787/mcp", "http://127.0.0.1:8787/mcp"),
        (at("https://evil.example/", &guarded()), "", "https://HOST/mcp"),
        (
            at("https://evil.example/", &guarded().resource(known)),
            "https://kb.example.com/mcp",
            "https://kb.example.com/mcp",
        ),
        (at("http://localhost/", &guarded().path("/tools")), "http://localhost/tools", "http://localhost/tools"),
    ] {
        assert_eq!(between(&html, "data-url=\"", "\""), url);
        assert_eq!(between(&html, "id=\"url\">", "<"), address);
        assert!(html.contains(&format!("curl -s {address} ")) && !html.contains("evil.example"));
    }
}
