//! Pages that a program adds to its endpoint.

use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;

use edge_mcp::host::{FetchLimits, Host};
use edge_mcp::http::PageRequest;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Context, Endpoint, HandlerError, Limits, McpServer, StaticTokens, Tool};
use futures::FutureExt;
use http::Response;
use serde_json::json;

use crate::support::{Ask, SECRET, post};

struct Visits(Cell<u32>);

/// Returns a text that describes the request, or fails as the body says.
async fn describe(request: PageRequest, cx: Context) -> Result<Response<String>, HandlerError> {
    let visits = cx.state::<Visits>()?;
    visits.0.set(visits.0.get() + 1);
    let body = String::from_utf8(request.body)?;
    match &*body {
        "invalid" => return Err(HandlerError::invalid("Not this.")),
        "missing" => return Err(HandlerError::not_found("Not here.")),
        "broken" => return Err(HandlerError::new("It broke.").because(SECRET)),
        _ => {}
    }
    let cookie = cx.header("Cookie").unwrap_or_default();
    assert!(cx.caller().is_err());
    let text = format!("{} {} {body} {cookie} {}", request.method, cx.url(), visits.0.get());
    Ok(Response::builder().status(202).header("Set-Cookie", "a=b").body(text)?)
}

fn endpoint() -> Endpoint {
    let tokens = r#"[{"token":"good","subject":"ada","scopes":[]}]"#;
    Endpoint::new(|_| McpServer::builder("s", "1").build())
        .state(Visits(Cell::new(0)))
        .page("/describe", describe)
        .page("/", describe)
        .expose_header("cookie")
        .auth(StaticTokens::from_json("T", Some(tokens)).expect("tokens"))
        .without_rate_limit()
}

/// Sends a request, and returns the status, the text and the headers of the response.
fn asked(ask: Ask, endpoint: &Endpoint, host: &TestHost) -> (u16, String, http::HeaderMap) {
    let answer = ask.document_on(endpoint, host);
    (answer.status, String::from_utf8(answer.body().to_vec()).expect("UTF-8"), answer.headers().clone())
}

#[test]
fn a_page_needs_no_token() {
    let (endpoint, host) = (endpoint(), TestHost::new());
    let get = post("").verb("GET").at("/describe?a=1").header("Cookie", "c=d");
    let (status, text, headers) = asked(get, &endpoint, &host);
    assert_eq!((status, &*text), (202, "GET http://localhost/describe?a=1  c=d 1"));
    assert_eq!(headers["set-cookie"], "a=b");
    let (status, text, _) = asked(post("body").at("/describe"), &endpoint, &host);
    assert_eq!((status, &*text), (202, "POST http://localhost/describe body  2"));
    let (status, text, _) = asked(post("").verb("HEAD").at("/describe"), &endpoint, &host);
    assert_eq!((status, &*text), (202, ""));
    // A page at `/` replaces the landing page.
    let (status, text, _) = asked(post("").verb("GET").at("/").header("Accept", "text/html"), &endpoint, &host);
    assert_eq!((status, &*text), (202, "GET http://localhost/   4"));
    assert_eq!(asked(post("").verb("GET").at("/describe/"), &endpoint, &host).0, 404);
}

#[test]
fn the_limits_of_the_endpoint_apply_to_pages() {
    let mut limits = Limits::default();
    limits.body = 8;
    let (endpoint, host) = (endpoint().limits(limits), TestHost::new());
    assert_eq!(asked(post("12345678").at("/describe"), &endpoint, &host).0, 202);
    assert_eq!(asked(post("123456789").at("/describe"), &endpoint, &host).0, 413);
    assert_eq!(asked(post("").at("/describe").header("Content-Length", "9"), &endpoint, &host).0, 413);
    assert_eq!(asked(post("").at("/describe").header("Origin", "https://evil.example"), &endpoint, &host).0, 403);
}

#[test]
fn errors_of_a_page_set_the_status() {
    for (body, status, message) in
        [("invalid", 400, "Not this."), ("missing", 404, "Not here."), ("broken", 500, "It broke.")]
    {
        let host = TestHost::new();
        let (answered, text, _) = asked(post(body).at("/describe"), &endpoint(), &host);
        assert_eq!(answered, status);
        assert!(text.contains(message) && !text.contains(SECRET), "{text}");
        assert_eq!(host.log_text().contains(SECRET), body == "broken");
    }
}

/// The pages of an endpoint have its conditions: a decision about authentication, and permission to serve at a public URL without
/// authentication. Otherwise the response is 503.
#[test]
fn a_closed_endpoint_does_not_serve_pages() {
    let page = |_: PageRequest, _: Context| async { Ok(Response::new("open")) };
    let closed = Endpoint::new(|_| McpServer::builder("s", "1").build()).page("/p", page);
    assert_eq!(asked(post("").verb("GET").at("/p"), &closed, &TestHost::new()).0, 503);
    let local = Endpoint::new(|_| McpServer::builder("s", "1").build()).page("/p", page).without_auth();
    let elsewhere = post("").verb("GET").at("https://kb.example.com/p");
    assert_eq!(asked(elsewhere, &local, &TestHost::new()).0, 503);
}

/// A form on a page sends the origin of that page. Pages accept this origin. The endpoint itself rejects it without a configured URL.
#[test]
fn a_page_accepts_its_own_origin() {
    let (endpoint, host) = (endpoint(), TestHost::new());
    let from = |origin: &str, path: &str| {
        let url = format!("https://kb.example.com{path}");
        asked(post("body").at(&url).header("Origin", origin), &endpoint, &host).0
    };
    assert_eq!(from("https://kb.example.com", "/describe"), 202);
    assert_eq!(from("https://evil.example", "/describe"), 403);
    assert_eq!(from("http://kb.example.com", "/describe"), 403);
    assert_eq!(from("https://kb.example.com", "/mcp"), 403);
}

/// Some statuses cannot be sent, and some cannot have a body.
#[test]
fn statuses_that_cannot_be_sent_become_500() {
    for (status, answered, text) in
        [(599, 599, "text"), (304, 304, ""), (204, 204, ""), (101, 500, "log"), (600, 500, "log")]
    {
        let page =
            move |_: PageRequest, _: Context| async move { Ok(Response::builder().status(status).body("text")?) };
        let endpoint = Endpoint::new(|_| McpServer::builder("s", "1").build()).page("/p", page).without_auth();
        let host = TestHost::new();
        let (given, body, _) = asked(post("").verb("GET").at("/p"), &endpoint, &host);
        assert_eq!(given, answered, "{status}");
        assert!(if text.is_empty() { body.is_empty() } else { body.contains(text) }, "{status}: {body}");
        assert_eq!(host.log_text().contains("not between 200 and 599"), answered != status, "{status}");
    }
}

/// The memory for the body of a page is reserved until the page has answered.
#[test]
fn waiting_pages_share_the_memory_for_bodies() {
    let mut limits = Limits::default();
    (limits.body, limits.in_flight) = (60, 100);
    let page = |request: PageRequest, cx: Context| async move {
        let fetch = http::Request::get("https://slow.example/").body("")?;
        cx.fetch(fetch, FetchLimits::default()).await?;
        Ok::<_, HandlerError>(Response::new(request.body))
    };
    let endpoint =
        Endpoint::new(|_| McpServer::builder("s", "1").build()).page("/p", page).without_auth().limits(limits);
    let host: Rc<dyn Host> = Rc::new(TestHost::new().fetch(|_, _| pending()));
    let send = || post("x".repeat(60)).at("/p").raw(&endpoint, &host);
    let mut first = Box::pin(send());
    assert!(first.as_mut().now_or_never().is_none());
    assert_eq!(send().now_or_never().expect("the second request is rejected").status(), 503);
    drop(first);
    assert!(send().now_or_never().is_none());
}

/// A page has no caller. If calls of the endpoint need a token, a page cannot call a tool that needs a scope.
#[test]
fn a_page_cannot_call_a_tool_that_needs_a_scope() {
    let purge = async |_: PageRequest, cx: Context| {
        let purge = Tool::new("purge", "Deletes everything.", async || "purged").scopes(["admin"]);
        let count = Tool::new("count", "Counts.", async || "7");
        let server = McpServer::builder("s", "1").tool(purge).tool(count).build()?;
        let counted = server.execute_tool("count", json!({}), &cx).await?.text();
        Ok::<_, HandlerError>(Response::new(counted + &server.execute_tool("purge", json!({}), &cx).await?.text()))
    };
    let page = |endpoint: Endpoint| asked(post("").at("/purge"), &endpoint.page("/purge", purge), &TestHost::new());
    let (status, text, _) = page(endpoint());
    assert_eq!(status, 500);
    assert!(text.contains("admin") && !text.contains("purged"), "{text}");
    let (status, text, _) = page(testing::endpoint(|_| McpServer::builder("s", "1").build()));
    assert_eq!((status, &*text), (200, "7purged"), "an endpoint without authentication");
}
