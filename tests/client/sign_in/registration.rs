//! The client id of the program at an authorization server.

use std::time::Duration;

use edge_mcp::client::{McpClient, MemoryTokens, SignIn, Upstream};
use edge_mcp::protocol::Revision;
use futures::future::join;
use serde_json::{Value, json};

use super::authorization_server::{ISSUER, REGISTER, RESOURCE_METADATA, REVOKE, Reply, SERVER_METADATA, TOKEN};
use super::browser::{Browser, Page, run};
use super::program::{KEY, Program, own_client, query};
use super::tracker::{Tracker, unauthorized};

const DOCUMENT: &str = "https://desk.example/sign-in/client.json";
const OTHER: &str = "https://other.example";

fn registering() -> Program {
    let program = Program::with(SignIn::dynamic_registration);
    no_documents(&program);
    program
}

/// The authorization server reads no metadata documents, but registers clients.
fn no_documents(program: &Program) {
    let members = json!({ "client_id_metadata_document_supported": false, "registration_endpoint": REGISTER });
    program.authorization.change(SERVER_METADATA, &members);
}

fn begin(program: &Program) -> Page {
    Browser::default().begin(program, "?server=tracker", "ada")
}

fn client_id(program: &Program) -> String {
    begin(program).parameter("client_id").expect("a client id")
}

/// Returns the metadata of the registration with this number.
fn registered(program: &Program, number: usize) -> Value {
    serde_json::from_str(&program.sent(REGISTER)[number]).expect("JSON")
}

/// C67: the metadata document has the URL of the client as its id, and exactly one redirect URI.
#[test]
fn the_metadata_document_is_the_client() {
    let program = Program::new();
    let page = Page::read(program.sign_in.metadata_document());
    assert_eq!(
        (page.status, &page.headers["content-type"], &page.headers["cache-control"]),
        (200, &"application/json".parse().expect("a value"), &"public, max-age=3600".parse().expect("a value"),)
    );
    let expected = json!({
        "client_id": DOCUMENT, "client_name": "Desk", "redirect_uris": ["https://desk.example/sign-in/callback"],
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
        "token_endpoint_auth_method": "none", "application_type": "web",
    });
    assert_eq!(serde_json::from_str::<Value>(&page.text).expect("JSON"), expected);
    let elsewhere = program.sign_in.document_at("https://static.example/desk.json").expect("a URL");
    assert!(
        Page::read(elsewhere.metadata_document()).text.contains(r#""client_id":"https://static.example/desk.json""#)
    );
}

/// C74: the order is a client of the operator, the metadata document, a registration, and otherwise an error.
#[test]
fn the_first_kind_of_client_counts() {
    let own = |sign_in: SignIn| {
        sign_in.client(own_client(OTHER, "other")).client(own_client(ISSUER, "own")).dynamic_registration()
    };
    let program = Program::with(own);
    assert_eq!(client_id(&program), "own");
    no_documents(&program);
    assert_eq!(client_id(&program), "own");

    let program = Program::with(SignIn::dynamic_registration);
    program.authorization.change(SERVER_METADATA, &json!({ "registration_endpoint": REGISTER }));
    assert_eq!(client_id(&program), DOCUMENT);
    assert!(program.sent(REGISTER).is_empty());
    no_documents(&program);
    assert_eq!(client_id(&program), "registered-1");

    let program = Program::new();
    no_documents(&program);
    let none = "You cannot sign in to the server tracker, because this program has no client id for its authorization server. \
                The operator must register this program there.";
    assert_eq!(begin(&program).refusal(), none);
    assert!(program.sent(REGISTER).is_empty());
}

/// C74: a client id belongs to one authorization server. If the server names another one, the browser is not sent there with it.
#[test]
fn a_client_id_belongs_to_an_issuer() {
    // An issuer that differs by a slash is another one.
    for issuer in [OTHER, "https://auth.example/"] {
        let settings = |sign_in: SignIn| sign_in.client(own_client(issuer, "own").secret("SECRET-client"));
        let program = Program::with(settings);
        no_documents(&program);
        assert!(begin(&program).refusal().contains("does not use the authorization server that the credentials"));
        let program = Program::at("http://localhost:8787/sign-in", MemoryTokens::new(), settings);
        assert!(begin(&program).refusal().contains("does not use the authorization server that the credentials"));
        assert!(program.sent(TOKEN).is_empty());
    }

    // The server moves to another authorization server: the client registers there, too.
    let program = registering();
    program.sign_in_as("ada");
    let moved = json!({
        "issuer": OTHER, "authorization_endpoint": "https://other.example/authorize",
        "token_endpoint": "https://other.example/token", "registration_endpoint": "https://other.example/register",
        "code_challenge_methods_supported": ["S256"],
    });
    program.authorization.change("https://other.example/.well-known/oauth-authorization-server", &moved);
    program.authorization.change(RESOURCE_METADATA, &json!({ "authorization_servers": [OTHER] }));
    let other = Reply::new(201, &json!({ "client_id": "other-1" }));
    program.authorization.reply("https://other.example/register", other);
    assert_eq!(client_id(&program), "other-1");
    // An authorization server that still is in the list is the one of the tokens, also if it is not the first one.
    program.authorization.change(RESOURCE_METADATA, &json!({ "authorization_servers": [OTHER, ISSUER] }));
    assert_eq!(client_id(&program), "registered-1");
}

/// C75: a registration names everything that the authorization server needs, and is used again by other persons and isolates.
#[test]
fn a_client_is_registered_once() {
    let program = registering();
    program.authorization.change(RESOURCE_METADATA, &json!({ "scopes_supported": ["a", "b"] }));
    assert_eq!(client_id(&program), "registered-1");
    let expected = json!({
        "client_name": "Desk", "redirect_uris": ["https://desk.example/sign-in/callback"],
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_basic", "application_type": "web", "scope": "a b",
    });
    assert_eq!(registered(&program, 0), expected);
    let request = program.host.requests().pop().expect("a request");
    assert_eq!(
        (request.headers()["content-type"].as_bytes(), request.headers().get("authorization")),
        (&b"application/json"[..], None)
    );
    let other = program.again(KEY, SignIn::dynamic_registration);
    assert_eq!(
        Browser::default().begin(&other, "?server=tracker", "bob").parameter("client_id").as_deref(),
        Some("registered-1")
    );
    assert_eq!(program.sent(REGISTER).len(), 1);

    let local = Program::at("http://localhost:8787/sign-in", MemoryTokens::new(), SignIn::dynamic_registration);
    no_documents(&local);
    begin(&local);
    let metadata = registered(&local, 0);
    assert_eq!((&metadata["application_type"], metadata.get("scope")), (&json!("native"), None));
}

/// C75: a client is registered for all scopes that it may request later, because an authorization server may grant it no others.
#[test]
fn a_registration_has_the_scopes_of_later_sign_ins() {
    let program = registering();
    program.authorization.change(RESOURCE_METADATA, &json!({ "scopes_supported": ["a", "b"] }));
    program.authorization.change(SERVER_METADATA, &json!({ "scopes_supported": ["a", "offline_access"] }));
    program.tracker.answer(unauthorized(r#"Bearer scope="x b""#));
    assert_eq!(begin(&program).parameter("scope").as_deref(), Some("x b offline_access"));
    assert_eq!(registered(&program, 0)["scope"], "x b a offline_access");
}

/// C76: the client authenticates with the method that it registered, in the token request, in a refresh, and in a revocation. Authorization servers
/// of the Python SDK need the id and the secret in the form, so it registers for that, if the authorization server names it. With Basic, the id
/// is not in the form too: `workers-oauth-provider` and Okta reject that as a second authentication.
#[test]
fn a_client_authenticates_with_its_method() {
    // The id and the secret are encoded before they are joined: `i%3A1:SECRET+%2F`.
    let header = "Basic aSUzQTE6U0VDUkVUKyUyRg==";
    for (supported, issued, asked, expected) in [
        (json!(null), json!({ "client_secret": "SECRET /" }), "client_secret_basic", "client_secret_basic"),
        (
            json!(["client_secret_post", "none"]),
            json!({ "client_secret": "SECRET /" }),
            "client_secret_post",
            "client_secret_post",
        ),
        (
            json!(["client_secret_basic", "client_secret_post"]),
            json!({ "client_secret": "SECRET /" }),
            "client_secret_post",
            "client_secret_post",
        ),
        (
            json!(["client_secret_basic", "none"]),
            json!({ "client_secret": "SECRET /" }),
            "client_secret_basic",
            "client_secret_basic",
        ),
        (json!(["none"]), json!({}), "none", "none"),
        (json!(["private_key_jwt"]), json!({}), "none", "none"),
        (json!(null), json!({}), "client_secret_basic", "none"),
        (
            json!(null),
            json!({ "client_secret": "SECRET /", "token_endpoint_auth_method": "client_secret_post" }),
            "client_secret_basic",
            "client_secret_post",
        ),
        (
            json!(null),
            json!({ "client_secret": "SECRET /", "token_endpoint_auth_method": "EVIL" }),
            "client_secret_basic",
            "client_secret_basic",
        ),
    ] {
        let program = registering();
        program.authorization.change(SERVER_METADATA, &json!({ "token_endpoint_auth_methods_supported": supported }));
        let mut answer = json!({ "client_id": "i:1" });
        answer.as_object_mut().expect("an object").extend(issued.as_object().expect("an object").clone());
        program.authorization.reply(REGISTER, Reply::new(201, &answer));
        program.sign_in_as("ada");
        assert_eq!(registered(&program, 0)["token_endpoint_auth_method"], asked);
        program.host.advance(Duration::from_hours(1));
        program.call("ada").expect("a result");
        let cx = Browser::default().context(&program.host, "", "", &[]);
        let ada = edge_mcp::auth::Principal::new("ada");
        run(&program.host, program.sign_in.forget(&program.client, "tracker", &cx, &ada)).expect("it is forgotten");
        let requests = program.host.requests();
        let requests: Vec<_> =
            requests.iter().filter(|request| *request.uri() == *TOKEN || *request.uri() == *REVOKE).collect();
        assert_eq!(requests.len(), 3);
        for request in requests {
            let sent = request.headers().get("authorization").map(|value| value.to_str().expect("ASCII"));
            let form: Vec<_> = form_urlencoded::parse(request.body().as_bytes()).into_owned().collect();
            let field = |name: &str| form.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
            let (id, secret) = (field("client_id"), field("client_secret"));
            match expected {
                "client_secret_basic" => assert_eq!((sent, id, secret), (Some(header), None, None)),
                "client_secret_post" => assert_eq!((sent, id, secret), (None, Some("i:1"), Some("SECRET /"))),
                _ => assert_eq!((sent, id, secret), (None, Some("i:1"), None)),
            }
        }
        let rows = format!("{:?}", program.store.rows());
        assert!(!rows.contains("SECRET") && !rows.contains("i:1") && !rows.contains("auth.example"));
        assert!(!program.host.log_text().contains("SECRET"));
    }
}

/// C76: a client of the operator authenticates with a method that the authorization server supports, or not at all.
#[test]
fn a_client_of_the_operator_authenticates() {
    for (supported, expected) in [
        (json!(null), Some(true)),
        (json!(["client_secret_post", "client_secret_basic"]), Some(true)),
        (json!(["client_secret_post"]), Some(false)),
        (json!(["none", "private_key_jwt"]), None),
    ] {
        let program = Program::with(|sign_in| sign_in.client(own_client(ISSUER, "own").secret("SECRET-client")));
        program.authorization.change(SERVER_METADATA, &json!({ "token_endpoint_auth_methods_supported": supported }));
        let Some(is_basic) = expected else {
            assert!(begin(&program).refusal().contains("does not support the authentication method"));
            continue;
        };
        program.sign_in_as("ada");
        let request = program.host.requests().pop().expect("a request");
        assert_eq!(request.headers().contains_key("authorization"), is_basic);
        assert_eq!(program.field(TOKEN, "client_secret").is_some(), !is_basic);
    }
}

/// C75: a secret that has expired is not used. The client registers again.
#[test]
fn an_expired_secret_is_registered_again() {
    let program = registering();
    let now = edge_mcp::host::Host::now_ms(&program.host) / 1000;
    for (number, expires) in [(1, now + 7200), (2, 0)] {
        let id = format!("client-{number}");
        let answer = json!({ "client_id": id, "client_secret": "SECRET-client", "client_secret_expires_at": expires });
        program.authorization.reply(REGISTER, Reply::new(201, &answer));
    }
    assert_eq!(client_id(&program), "client-1");
    program.sign_in_as("ada");
    program.host.advance(Duration::from_secs(7200 - 61));
    assert_eq!(client_id(&program), "client-1");
    program.host.advance(Duration::from_secs(1));
    assert_eq!(client_id(&program), "client-2");
    program.host.advance(Duration::from_hours(24 * 365));
    assert_eq!(client_id(&program), "client-2");
    // The tokens of the first client cannot be refreshed any more, so the person signs in again.
    let requests = program.sent(TOKEN).len();
    query(&program.call("ada").expect_err("a failure"));
    assert_eq!(program.sent(TOKEN).len(), requests);
    program.sign_in_as("ada");
    program.call("ada").expect("a result");
}

/// C75: of two registrations at the same time, the first one that is stored counts for both.
#[test]
fn the_first_registration_counts() {
    let program = registering();
    for (number, seconds) in [(1, 3), (2, 1)] {
        let answer = Reply::new(201, &json!({ "client_id": format!("client-{number}") }));
        program.authorization.reply(REGISTER, answer.after(Duration::from_secs(seconds)));
    }
    let other = program.again(KEY, SignIn::dynamic_registration);
    let context = || Browser::default().context(&program.host, "", "?server=tracker", &[]);
    let (one, two) = (context(), context());
    let ada = edge_mcp::auth::Principal::new("ada");
    let both = join(program.sign_in.begin(&program.client, &one, &ada), other.sign_in.begin(&other.client, &two, &ada));
    let (first, second) = run(&program.host, both);
    for page in [first, second] {
        assert_eq!(Page::read(page).parameter("client_id").as_deref(), Some("client-2"));
    }
    assert_eq!((program.sent(REGISTER).len(), client_id(&program).as_str()), (2, "client-2"));
}

/// C82: an authorization server that has forgotten a registered client ends its tokens. The next sign-in registers the client again.
#[test]
fn a_forgotten_client_is_registered_again() {
    for code in ["invalid_client", "unauthorized_client"] {
        let program = registering();
        program.sign_in_as("ada");
        program.sign_in_as("bob");
        program.host.advance(Duration::from_hours(1));
        program.authorization.reply(TOKEN, Reply::new(401, &json!({ "error": code })));
        let requests = program.sent(TOKEN).len();
        query(&program.call("ada").expect_err("a failure"));
        // The tokens of bob belong to the same client. They are not tried.
        query(&program.call("bob").expect_err("a failure"));
        assert_eq!(program.sent(TOKEN).len(), requests + 1);
        program.sign_in_as("ada");
        program.call("ada").expect("a result");
        assert_eq!(program.sent(REGISTER).len(), 2);
    }
}

/// An authorization server that has forgotten a client, for example after a restart, shows an error page and sends nobody back. So the sign-in
/// after one that has not ended asks it with a code that does not exist, and registers the client again. The answers are those of real
/// authorization servers: that of the Python SDK before and since 2.0, `mcpAuthRouter`, and two that know the client.
#[test]
fn a_client_that_was_forgotten_is_registered_by_the_next_sign_in() {
    for (status, code, description, is_forgotten) in [
        (401, "unauthorized_client", "Invalid client_id", true),
        (401, "invalid_client", "Invalid client_id", true),
        (400, "invalid_client", "Invalid client_id", true),
        (400, "invalid_grant", "authorization code does not exist", false),
        (500, "server_error", "Internal Server Error", false),
    ] {
        let program = registering();
        program.sign_in_as("ada");
        let requests = program.sent(TOKEN).len();
        assert_eq!(client_id(&program), "registered-1");
        assert_eq!(program.sent(TOKEN).len(), requests, "the last sign-in has ended");
        let answer = json!({ "error": code, "error_description": description });
        program.authorization.reply(TOKEN, Reply::new(status, &answer));
        assert_eq!(client_id(&program) != "registered-1", is_forgotten, "{status} {code}");
        assert_eq!(program.sent(REGISTER).len(), if is_forgotten { 2 } else { 1 }, "{status} {code}");
        let asked = |name| program.field(TOKEN, name).expect("a field");
        assert_eq!((asked("grant_type").as_str(), asked("client_id").as_str()), ("authorization_code", "registered-1"));
        assert_eq!(asked("code").len(), 43, "a random code");
        let log = program.host.log_text();
        let line = format!("is registered again at {ISSUER}: the authorization server answers {code}: {description}");
        assert_eq!(log.contains(&line), is_forgotten, "{log}");
        program.sign_in_as("bob");
        program.call("bob").expect("a result");
    }
}

/// A person who has removed their access may have done so because the sign-in does not work any more.
#[test]
fn the_sign_in_after_a_removal_asks_whether_the_client_is_known() {
    let program = registering();
    program.sign_in_as("ada");
    let cx = Browser::default().context(&program.host, "", "", &[]);
    let ada = edge_mcp::auth::Principal::new("ada");
    run(&program.host, program.sign_in.forget(&program.client, "tracker", &cx, &ada)).expect("it is forgotten");
    program.authorization.reply(TOKEN, Reply::new(401, &json!({ "error": "invalid_client" })));
    program.sign_in_as("ada");
    assert_eq!(program.sent(REGISTER).len(), 2);
    program.call("ada").expect("a result");
}

/// The log has what the authorization server says about a request that it rejects, without a value of the request. The page does not.
#[test]
fn the_description_of_a_rejection_is_only_in_the_log() {
    for (description, logged) in [
        ("Missing client_id", "the authorization server answers invalid_request: Missing client_id"),
        ("The code SECRET-code is unknown", "the authorization server answers invalid_request\""),
        ("The secret SECRET-S is wrong", "the authorization server answers invalid_request\""),
        ("Not\u{202e} 'SECRET-x' \nhere", "the authorization server answers invalid_request: Not …  here"),
    ] {
        let program = registering();
        program
            .authorization
            .reply(REGISTER, Reply::new(201, &json!({ "client_id": "i", "client_secret": "SECRET-S" })));
        let answer = json!({ "error": "invalid_request", "error_description": description });
        program.authorization.reply(TOKEN, Reply::new(400, &answer));
        let mut browser = Browser::default();
        let state = browser.begin(&program, "?server=tracker", "ada").parameter("state").expect("a state");
        let page = browser.finish(&program, &format!("?code=SECRET-code&state={state}"), "ada");
        let sentence = "its authorization server rejects the request for an access token (invalid_request).";
        assert_eq!(page.refusal(), format!("You cannot sign in to the server tracker, because {sentence}"));
        let log = program.host.log_text();
        assert!(log.contains(logged) && !log.contains("SECRET"), "{log}");
    }
    let program = registering();
    let answer = json!({ "error": "invalid_redirect_uri", "error_description": "Use https" });
    program.authorization.reply(REGISTER, Reply::new(400, &answer));
    assert!(!begin(&program).refusal().contains("Use https"));
    let logged = "the authorization server answers invalid_redirect_uri: Use https";
    assert!(program.host.log_text().contains(logged), "{}", program.host.log_text());
}

/// C75: if the authorization server does not register the program, or its answer is not valid, the sign-in ends.
#[test]
fn a_hostile_registration_ends_the_sign_in() {
    let rejects = |reason: &str| format!("its authorization server does not register this program ({reason}).");
    let invalid = "its authorization server sent an answer to the registration of this program that is not valid.";
    for (reply, expected) in [
        (Reply::error("invalid_redirect_uri"), rejects("invalid_redirect_uri")),
        (Reply::new(400, &json!({ "error": "EVIL<b>" })), rejects("an unknown error")),
        (Reply::text(403, "<p>EVIL</p>"), rejects("status 403")),
        (Reply::text(302, ""), rejects("status 302")),
        (Reply::text(201, "<p>EVIL</p>"), invalid.to_owned()),
        (Reply::new(201, &json!({ "client_id": "" })), invalid.to_owned()),
        (Reply::new(201, &json!({ "client_id": "a\nb" })), invalid.to_owned()),
        (Reply::new(201, &json!({ "client_id": ["EVIL"] })), invalid.to_owned()),
        (Reply::new(201, &json!({ "client_id": "a".repeat(9000) })), invalid.to_owned()),
        (Reply::silence(), "its authorization server cannot be reached. Try again later.".to_owned()),
    ] {
        let program = registering();
        program.authorization.reply(REGISTER, reply);
        let page = begin(&program);
        assert_eq!(page.refusal(), format!("You cannot sign in to the server tracker, because {expected}"));
        assert!(page.cookies().is_empty() && program.store.rows().is_empty());
    }
}

/// An authorization server that has forgotten a registered client shows an error page, and nobody comes back. After three sign-ins that have
/// not ended within 10 minutes, the client is registered again. Sign-ins that end are not counted, and the earlier client is still used for
/// its tokens.
#[test]
fn a_client_with_which_no_sign_in_ends_is_registered_again() {
    let program = registering();
    program.sign_in_as("ada");
    for _ in 0..3 {
        assert_eq!(client_id(&program), "registered-1");
        program.sign_in_as("ada");
    }
    program.host.advance(Duration::from_hours(1));
    for _ in 0..10 {
        // Each of these can still end.
        assert_eq!(client_id(&program), "registered-1");
        program.host.advance(Duration::from_secs(59));
    }
    program.host.advance(Duration::from_secs(10));
    let newer = client_id(&program);
    assert_ne!(newer, "registered-1");
    assert_eq!((client_id(&program), program.sent(REGISTER).len()), (newer.clone(), 2));
    program.call("ada").expect("the tokens of the first client are refreshed");
    assert_eq!(program.field(TOKEN, "client_id").as_deref(), Some("registered-1"));
    // A sign-in with the new client ends.
    let mut browser = Browser::default();
    let state = browser.begin(&program, "?server=tracker", "ada").parameter("state").expect("a state");
    assert_eq!(browser.finish(&program, &format!("?code=c&state={state}"), "ada").status, 200);
    assert_eq!(program.field(TOKEN, "client_id"), Some(newer));
}

/// A server that nobody signs in to does not replace the client that has tokens, however often it is registered.
#[test]
fn a_client_with_tokens_is_kept_when_others_are_registered() {
    let program = registering();
    program.sign_in_as("ada");
    for _ in 0..40 {
        client_id(&program);
        program.host.advance(Duration::from_mins(10));
    }
    assert_eq!(program.sent(REGISTER).len(), 1 + 39 / 3, "each client has three sign-ins");
    program.call("ada").expect("a result");
    assert_eq!(program.field(TOKEN, "client_id").as_deref(), Some("registered-1"));
}

/// Many authorization servers grant a client only the scopes for which it was registered. So a client is for one server, and is registered
/// again for other scopes, or after the authorization server has rejected it or its scopes.
#[test]
fn a_client_is_registered_for_the_scopes_that_are_requested() {
    let program = registering();
    for (named, scope, registrations) in
        [(json!(["a"]), "a", 1), (json!(["a", "b"]), "a b", 2), (json!(["c"]), "c a b", 3), (json!(["b", "c"]), "", 3)]
    {
        program.authorization.change(RESOURCE_METADATA, &json!({ "scopes_supported": named }));
        assert_eq!(begin(&program).status, 302);
        assert_eq!(program.sent(REGISTER).len(), registrations);
        if !scope.is_empty() {
            assert_eq!(registered(&program, registrations - 1)["scope"], scope);
        }
    }
    for (error, registrations) in
        [("invalid_scope", 4), ("unauthorized_client", 5), ("access_denied", 5), ("server_error", 5)]
    {
        let mut browser = Browser::default();
        let state = browser.begin(&program, "?server=tracker", "ada").parameter("state").expect("a state");
        assert_eq!(browser.finish(&program, &format!("?error={error}&state={state}"), "ada").status, 400);
        begin(&program);
        assert_eq!(program.sent(REGISTER).len(), registrations, "{error}");
    }

    // Another server of the same authorization server has a client of its own.
    let program = registering();
    program.authorization.change(RESOURCE_METADATA, &json!({ "scopes_supported": ["a"] }));
    program.sign_in_as("ada");
    let other = "https://other.example/mcp";
    let upstream = Upstream::via(other, Tracker::default()).expect("a URL").revision(Revision::V2026_07_28);
    let client = McpClient::builder("desk", "1.0.0").server("tracker", upstream.sign_in(&program.sign_in)).build();
    let metadata = json!({ "resource": other, "authorization_servers": [ISSUER], "scopes_supported": ["a"] });
    program.authorization.change("https://other.example/.well-known/oauth-protected-resource/mcp", &metadata);
    let program = Program { client: client.expect("a client"), ..program };
    assert_ne!(client_id(&program), "registered-1");
}
