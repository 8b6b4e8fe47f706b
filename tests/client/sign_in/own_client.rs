//! The clients that the operator registered, and the servers that may use them.

use edge_mcp::auth::Principal;
use edge_mcp::client::{Failure, McpClient, OwnClient, Upstream};
use edge_mcp::protocol::Revision;
use serde_json::json;

use super::authorization_server::{AUTHORIZE, ISSUER, REGISTER, RESOURCE_METADATA, TOKEN};
use super::browser::{Browser, Page, context, run};
use super::program::{Program, own_client};
use super::tracker::{Tracker, insufficient};

const OTHER: &str = "https://other.example/mcp";
const OTHER_METADATA: &str = "https://other.example/.well-known/oauth-protected-resource/mcp";

/// Returns a client with the server `other`, whose metadata names the authorization server of the tracker.
fn with_other(program: &Program, upstream: Upstream) -> McpClient {
    let metadata = json!({
        "resource": OTHER, "authorization_servers": [ISSUER], "scopes_supported": ["mail.read", "mail.send"],
    });
    program.authorization.change(OTHER_METADATA, &metadata);
    let upstream = upstream.revision(Revision::V2026_07_28).sign_in(&program.sign_in);
    McpClient::builder("desk", "1.0.0").server("other", upstream).build().expect("a client")
}

fn begin(program: &Program, client: &McpClient) -> Page {
    let cx = Browser::default().context(&program.host, "", "?server=other", &[]);
    Page::read(run(&program.host, program.sign_in.begin(client, &cx, &Principal::new("ada"))))
}

/// C74: a client that the operator registered for a server is not used for another server, although that one names the same authorization
/// server, and neither is another client id there. An untrusted server never uses it.
#[test]
fn a_client_is_only_for_the_servers_that_the_operator_names() {
    let mounted = || Upstream::via(OTHER, Tracker::default()).expect("a URL");
    let untrusted = || Upstream::untrusted(OTHER).expect("a URL");
    let of_tracker = || own_client(ISSUER, "own").secret("SECRET-client");
    let of_both = || of_tracker().server("other", ["mail.read"]);
    let of_others = "the client of this program at its authorization server is for other servers.";
    for (upstream, client, expected) in [
        (mounted(), of_tracker(), of_others),
        (untrusted(), of_tracker(), "its authorization server cannot be used."),
        (untrusted(), of_both(), "its authorization server cannot be used."),
    ] {
        let program = Program::with(|sign_in| sign_in.client(client).dynamic_registration());
        let page = begin(&program, &with_other(&program, upstream));
        assert!(page.refusal().contains(expected), "{page:?}");
        assert!(page.cookies().is_empty() && program.store.rows().is_empty());
        let is_answered = |request: &http::Request<String>| [TOKEN, REGISTER].contains(&&*request.uri().to_string());
        assert!(!program.host.requests().iter().any(is_answered));
        assert!(program.host.log_text().contains("is for other servers") || expected == of_others);
    }

    let program = Program::with(|sign_in| sign_in.client(of_both()));
    let page = begin(&program, &with_other(&program, mounted()));
    assert!(page.location().starts_with(AUTHORIZE), "{page:?}");
    assert_eq!(
        (page.parameter("client_id").as_deref(), page.parameter("scope").as_deref()),
        (Some("own"), Some("mail.read"))
    );
    // A server that no client was registered for can use another authorization server.
    let program = Program::with(|sign_in| sign_in.client(own_client("https://else.example", "own")));
    let page = begin(&program, &with_other(&program, mounted()));
    assert_eq!(page.parameter("client_id").as_deref(), Some("https://desk.example/sign-in/client.json"));
}

/// C79: of the scopes that a server names, those are requested that the operator allows, and if there are none, all that the operator allows.
#[test]
fn only_the_scopes_that_the_operator_allows_are_requested() {
    let (some, none) = (&["read", "write"][..], &[][..]);
    for (allowed, named, expected) in [
        (some, json!(["read", "mail.send"]), Some("read")),
        (some, json!(["write", "read"]), Some("write read")),
        (some, json!(["mail.send"]), Some("read write")),
        (some, json!([]), Some("read write")),
        (none, json!(["mail.send"]), None),
    ] {
        let own = OwnClient::new(ISSUER, "own").server("tracker", allowed.iter().copied());
        let program = Program::with(|sign_in| sign_in.scopes(["admin"]).client(own));
        program.authorization.change(RESOURCE_METADATA, &json!({ "scopes_supported": named }));
        let page = Browser::default().begin(&program, "?server=tracker", "ada");
        assert_eq!(page.parameter("scope").as_deref(), expected, "{named}");
    }
}

/// C85: a server that requires a scope which the operator does not allow gets no sign-in for it.
#[test]
fn a_scope_that_the_operator_does_not_allow_leads_to_no_sign_in() {
    let own = own_client(ISSUER, "own").server("other", ["admin"]);
    let program = Program::with(|sign_in| sign_in.client(own));
    // The authorization server grants more than the program requests.
    program.authorization.issue(&json!({ "scope": "read extra" }));
    program.sign_in_as("ada");
    for required in ["admin", "read admin"] {
        program.tracker.answer(insufficient(required));
        let error = program.call("ada").expect_err("a failure");
        assert!(matches!(error.failure(), Failure::ScopeRequired { .. }), "{error}");
    }
    // A link with such a scope is one for the allowed scopes.
    program.authorization.issue(&json!({ "scope": "other" }));
    program.sign_in_as("ada");
    program.tracker.answer(insufficient("read admin"));
    let begun = Browser::default().begin(&program, &program.link("ada"), "ada");
    assert_eq!(begun.parameter("scope").as_deref(), Some("read"));
}

/// C74: a token of a registered client reaches only the server for which the person signed in.
#[test]
fn a_token_is_only_for_its_server() {
    let program = Program::with(|sign_in| sign_in.client(own_client(ISSUER, "own").secret("SECRET-client")));
    program.sign_in_as("ada");
    let other = Tracker::default();
    let client = with_other(&program, Upstream::via(OTHER, other.clone()).expect("a URL"));
    let cx = context(http::Request::post("https://desk.example/mcp"), &program.host, Some(Principal::new("ada")));
    let connection = client.connect(&cx);
    let call = async move { connection.server("other")?.call("x", json!({})).await.map(|it| it.text()) };
    let error = run(&program.host, call).expect_err("a failure");
    assert!(matches!(error.failure(), Failure::SignInRequired { .. }), "{error}");
    assert_eq!((other.tokens(), program.sent(TOKEN).len()), (vec![String::new()], 1));
}
