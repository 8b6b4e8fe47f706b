//! The endpoints of authorization servers that MCP servers name: they are on the host of the issuer, unless the operator has named it.

use std::rc::Rc;

use edge_mcp::auth::Principal;
use edge_mcp::client::{McpClient, MemoryTokens, SignIn, Transport, Upstream};
use edge_mcp::host::{FetchError, Host, Opened, Outbound};
use edge_mcp::protocol::Revision;
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};
use http::{HeaderMap, Method};
use serde_json::json;

use super::authorization_server::{ISSUER, RESOURCE_METADATA, Reply, SERVER_METADATA, TRACKER};
use super::browser::{Browser, Page, context, run};
use super::consent::action;
use super::program::{KEY, Program, keys, own_client};

/// The mix-up of RFC 9700 §4.4: an authorization server cannot name the authorization endpoint of another one, whose codes it would get.
#[test]
fn a_code_is_not_sent_to_another_authorization_server() {
    let evil = "https://evil.example";
    for is_document in [true, false] {
        let program = Program::with(SignIn::dynamic_registration);
        program.authorization.change(RESOURCE_METADATA, &json!({ "authorization_servers": [evil] }));
        let metadata = json!({
            "issuer": evil, "authorization_endpoint": "https://honest.example/authorize",
            "token_endpoint": "https://evil.example/token", "registration_endpoint": "https://evil.example/register",
            "code_challenge_methods_supported": ["S256"], "client_id_metadata_document_supported": is_document,
        });
        program.authorization.change("https://evil.example/.well-known/oauth-authorization-server", &metadata);
        let page = Browser::default().begin(&program, "?server=tracker", "ada");
        assert_eq!(
            page.refusal(),
            "You cannot sign in to the server tracker, because the URL `authorization_endpoint` in its challenge or metadata is on another \
             host than the issuer."
        );
        assert!(page.cookies().is_empty());
        assert!(program.host.requests().iter().all(|request| request.method() == Method::GET));
    }
}

/// Each endpoint is on the host of the issuer, so a server cannot make this program send requests to other sites. An operator who has named
/// the issuer can use an authorization server with several hosts.
#[test]
fn the_endpoints_are_on_the_host_of_an_issuer_that_the_operator_has_not_named() {
    let members =
        ["authorization_endpoint", "token_endpoint", "revocation_endpoint", "registration_endpoint"].into_iter();
    for (member, host) in members.flat_map(|member| [(member, "login.auth.example"), (member, "victim.example")]) {
        let changed = json!({ member: format!("https://{host}/orders") });
        let begin = |settings: &dyn Fn(SignIn) -> SignIn| {
            let program = Program::with(|sign_in| settings(sign_in.dynamic_registration()));
            program.authorization.change(SERVER_METADATA, &json!({ "client_id_metadata_document_supported": false }));
            program
                .authorization
                .change(SERVER_METADATA, &json!({ "registration_endpoint": "https://auth.example/register" }));
            program.authorization.change(SERVER_METADATA, &changed);
            program
                .authorization
                .reply(&format!("https://{host}/orders"), Reply::new(201, &json!({ "client_id": "c" })));
            let page = Browser::default().begin(&program, "?server=tracker", "ada");
            (page, program.sent(&format!("https://{host}/orders")).len())
        };
        let (page, sent) = begin(&|sign_in| sign_in);
        let expected = format!("the URL `{member}` in its challenge or metadata is on another host than the issuer.");
        assert!(page.refusal().contains(&expected), "{page:?}");
        assert_eq!(sent, 0);
        assert_eq!(begin(&|sign_in| sign_in.trust_issuer("https://else.example")).0.status, 400);
        assert_eq!(begin(&|sign_in| sign_in.trust_issuer(ISSUER)).0.status, 302);
        assert_eq!(begin(&|sign_in| sign_in.client(own_client(ISSUER, "own"))).0.status, 302);
    }
    // The case of a host does not matter.
    let program = Program::new();
    program.authorization.change(SERVER_METADATA, &json!({ "token_endpoint": "https://AUTH.example:443/token" }));
    assert_eq!(Browser::default().begin(&program, "?server=tracker", "ada").status, 302);
}

/// Returns a client with a server that a user of the program chose.
fn chosen(program: &Program) -> McpClient {
    let upstream = Upstream::untrusted("https://chosen.example/mcp").expect("a URL").revision(Revision::V2026_07_28);
    let metadata = json!({ "resource": "https://chosen.example/mcp", "authorization_servers": [ISSUER] });
    program.authorization.change("https://chosen.example/.well-known/oauth-protected-resource/mcp", &metadata);
    McpClient::builder("desk", "1.0.0").server("chosen", upstream.sign_in(&program.sign_in)).build().expect("a client")
}

/// C72: no sentence says what the authorization server of an untrusted server answers, or whether it exists. The log does.
#[test]
fn the_sentence_about_an_untrusted_server_is_always_the_same() {
    let ada = Principal::new("ada");
    let text = |status: u16, text: &str| Reply::text(status, text);
    for (replies, cause) in [
        (vec![Reply::silence()], "its authorization server cannot be reached"),
        (vec![text(404, ""), text(404, "")], "has no metadata"),
        (vec![text(500, ""), text(500, "")], "its authorization server cannot be reached"),
        (vec![text(200, "<p>"), text(200, "<p>")], "is not valid"),
        (vec![text(200, r#"{"issuer":"x"}"#), text(200, "{}")], "has another issuer"),
    ] {
        let program = Program::new();
        let client = chosen(&program);
        for (reply, name) in replies.into_iter().zip(["oauth-authorization-server", "openid-configuration"]) {
            program.authorization.reply(&format!("{ISSUER}/.well-known/{name}"), reply);
        }
        let cx = Browser::default().context(&program.host, "", "?server=chosen", &[]);
        let page = Page::read(run(&program.host, program.sign_in.begin(&client, &cx, &ada)));
        let expected = "You cannot sign in to the server chosen, because its authorization server cannot be used.";
        assert_eq!(page.refusal(), expected);
        assert!(program.host.log_text().contains(cause), "{}", program.host.log_text());
    }
}

/// A person is asked before a sign-in to an untrusted server begins, here and at the authorization server. The sentences about its token
/// endpoint are the same too, also in later calls.
#[test]
fn a_sign_in_to_an_untrusted_server_asks_the_person() {
    let program = Program::new();
    let client = chosen(&program);
    let ada = Principal::new("ada");
    let mut browser = Browser::default();
    let open = |browser: &Browser, request: http::request::Builder| {
        let cx = context(request.header("cookie", browser.header()), &program.host, None);
        Page::read(run(&program.host, program.sign_in.begin(&client, &cx, &ada)))
    };
    let page = open(&browser, http::Request::get("https://desk.example/sign-in?server=chosen"));
    assert!(page.status == 200 && page.cookies().is_empty() && page.text.contains("<form"), "{page:?}");
    let press = || {
        let request = http::Request::post(format!("https://desk.example/sign-in{}", action(&page)));
        request.header("Sec-Fetch-Site", "same-origin")
    };
    for (reply, status) in [(Some(Reply::text(500, "")), 400), (Some(Reply::error("invalid_grant")), 400), (None, 200)]
    {
        let begun = open(&browser, press());
        browser.accept(&begun);
        assert_eq!(begun.parameter("prompt").as_deref(), Some("consent"));
        if let Some(reply) = reply {
            program.authorization.reply("https://auth.example/token", reply);
        }
        let state = begun.parameter("state").expect("a state");
        let page = browser.finish(&program, &format!("?code=c&state={state}"), "ada");
        assert_eq!(page.status, status);
        assert!(
            status == 200 || page.sentence().ends_with("because its authorization server cannot be used."),
            "{page:?}"
        );
    }
    program.host.advance(std::time::Duration::from_hours(1));
    program.authorization.reply("https://auth.example/token", Reply::text(418, ""));
    let caller = context(http::Request::post("https://desk.example/mcp"), &program.host, Some(ada.clone()));
    let connection = client.connect(&caller);
    let call = async move { connection.server("chosen")?.call("x", json!({})).await.map(|it| it.text()) };
    let error = run(&program.host, call).expect_err("a failure").to_string();
    assert_eq!(error, "The server `chosen` was not called, because its authorization server cannot be used.");
    assert!(program.host.log_text().contains("status 418") || !error.contains("418"));
}

/// A private way to the tracker, which has the metadata. What the network has at this URL is another server.
struct PrivateWay;

impl Transport for PrivateWay {
    fn open(&self, request: Outbound, _: &Rc<dyn Host>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let metadata = json!({ "resource": "https://tracker.example/mcp", "authorization_servers": [ISSUER] });
        let mut headers = HeaderMap::new();
        headers.insert("content-type", "application/json".parse().expect("a value"));
        ready(Ok(match request.method {
            Method::GET if request.url.contains("/.well-known/") => Opened::new(200, headers, metadata.to_string()),
            _ => Opened::new(401, HeaderMap::new(), ""),
        }))
        .boxed_local()
    }
}

/// The metadata of a server comes by the way on which its requests go. A URL on localhost is not that of a developer if another way leads to
/// the server.
#[test]
fn the_metadata_of_a_server_comes_over_its_transport() {
    let program = Program::new();
    let wrong = json!({ "authorization_servers": ["https://evil.example"] });
    program.authorization.change(RESOURCE_METADATA, &wrong);
    let begin = |url: &str, resource: Option<&str>| {
        let mut upstream = Upstream::via(url, PrivateWay).expect("a URL").sign_in(&program.sign_in);
        if let Some(resource) = resource {
            upstream = upstream.resource(resource).expect("a URL");
        }
        let client = McpClient::builder("desk", "1.0.0").server("tracker", upstream).build().expect("a client");
        let cx = Browser::default().context(&program.host, "", "?server=tracker", &[]);
        Page::read(run(&program.host, program.sign_in.begin(&client, &cx, &Principal::new("ada"))))
    };
    assert!(begin(TRACKER, None).location().starts_with("https://auth.example/authorize?"));
    assert!(program.host.requests().iter().all(|request| !request.uri().to_string().contains("tracker.example")));
    // A service binding has another URL than the server itself.
    let page = begin("https://tracker.internal/mcp", Some(TRACKER));
    assert_eq!(page.parameter("resource").as_deref(), Some(TRACKER));
    assert!(begin("https://tracker.internal/mcp", None).refusal().contains("describes another resource"));

    program.authorization.change(SERVER_METADATA, &json!({ "token_endpoint": "http://localhost:1/token" }));
    let page = begin("http://localhost/mcp", Some(TRACKER));
    assert!(page.refusal().contains("`token_endpoint` in its challenge or metadata must be an https: URL"), "{page:?}");
}

/// RFC 9728 §3.3, the hostile case 48: a token for a resource that contains the server is requested only if the program names this resource.
#[test]
fn a_resource_that_contains_the_server_must_be_named_by_the_program() {
    for (resource, is_accepted) in
        [("https://tracker.example", true), ("https://tracker.example/", true), ("https://tracker.example/x", false)]
    {
        let program = Program::new();
        program.authorization.change(RESOURCE_METADATA, &json!({ "resource": "https://tracker.example/" }));
        let page = Browser::default().begin(&program, "?server=tracker", "ada");
        assert!(page.refusal().contains("its metadata describes another resource"), "{page:?}");

        let sign_in = SignIn::new("Desk", "https://desk.example/sign-in", keys(KEY), MemoryTokens::new());
        let sign_in = sign_in.expect("the settings");
        let upstream = Upstream::via(TRACKER, program.tracker.clone()).expect("a URL").sign_in(&sign_in);
        let upstream = upstream.resource(resource).expect("a URL");
        let client = McpClient::builder("desk", "1.0.0").server("tracker", upstream).build().expect("a client");
        let cx = Browser::default().context(&program.host, "", "?server=tracker", &[]);
        let page = Page::read(run(&program.host, sign_in.begin(&client, &cx, &Principal::new("ada"))));
        assert_eq!(page.status == 302, is_accepted, "{page:?}");
        if is_accepted {
            assert_eq!(page.parameter("resource").as_deref(), Some(resource));
        }
    }
    assert!(Upstream::at(TRACKER).expect("a URL").resource("tracker").is_err());
}
