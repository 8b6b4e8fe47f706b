//! The credentials that servers get.

use std::future::{pending, ready};
use std::time::Duration;

use edge_mcp::agents::{ChatAgent, ChatModel};
use edge_mcp::client::{AuthorizationServer, ClientCredentials, ClientError, Executed, Failure, McpClient, Upstream};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Context, HandlerError, McpServer, StaticTokens, Tool};
use serde_json::{Value, json};

use crate::calls::{at, client, context, modern};
use crate::fake_model::{calls, choice};
use crate::peer::{Answer, Peer, result};

const TOKEN_URL: &str = "https://auth.example/token";
const SECRET: &str = "s%cret/4711";

fn token_endpoint() -> AuthorizationServer {
    AuthorizationServer::token_endpoint(TOKEN_URL).expect("a URL")
}

fn own_credentials() -> ClientCredentials {
    ClientCredentials::basic(token_endpoint(), "the desk", SECRET)
        .expect("a client")
        .scopes(["parcels:read", "parcels:write"])
}

fn pinned(peer: &Peer) -> Upstream {
    at(peer).revision(Revision::V2026_07_28)
}

fn issued(token: &str, expires_in: u64) -> String {
    json!({ "access_token": token, "token_type": "Bearer", "expires_in": expires_in, "refresh_token": "unused" })
        .to_string()
}

/// Calls the tool `track` of `client` on `host`.
fn track(client: &McpClient, host: &TestHost) -> Result<String, ClientError> {
    let connection = client.connect(&context(host));
    let call = connection.server("parcels")?.call("track", json!({}));
    testing::run(host.run(async move { call.await.map(|result| result.text()) })).expect("the call ends")
}

/// Returns the tokens that a peer got.
fn tokens(peer: &Peer) -> Vec<String> {
    let token = |request: &http::Request<String>| {
        request.headers().get("authorization").map_or("none", |value| value.to_str().expect("ASCII")).to_owned()
    };
    peer.requests().iter().map(token).collect()
}

fn unauthorized() -> Answer {
    Answer::new(401, "", "").header("www-authenticate", "Bearer error=\"invalid_token\"")
}

/// C62, C76: a token is requested with the resource and the scopes, by either method of client authentication. The form encoding of RFC 6749
/// §2.3.1 applies to the parts of the header.
#[test]
fn a_token_is_requested_for_the_server() {
    let post = ClientCredentials::post(token_endpoint(), "the desk", SECRET).expect("a client");
    let other = |upstream: Upstream| upstream.resource("https://parcels.example/").expect("a URL");
    let own = |upstream: Upstream| upstream;
    let grant = "grant_type=client_credentials";
    let settings: [(ClientCredentials, &dyn Fn(Upstream) -> Upstream, _, _); 2] = [
        (
            own_credentials(),
            &own,
            // the+desk:s%25cret%2F4711
            Some("Basic dGhlK2Rlc2s6cyUyNWNyZXQlMkY0NzEx"),
            format!("{grant}&resource=https%3A%2F%2Fparcels.example%2Fmcp&scope=parcels%3Aread+parcels%3Awrite"),
        ),
        (
            post,
            &other,
            None,
            format!(
                "{grant}&resource=https%3A%2F%2Fparcels.example%2F&client_id=the+desk&client_secret=s%25cret%2F4711"
            ),
        ),
    ];
    for (credentials, at_resource, header, form) in settings {
        let host = TestHost::new().respond("POST", TOKEN_URL, 200, issued("t-1", 3600));
        let peer = Peer::new([modern("in Lyon")]);
        // The order of the settings does not matter.
        let client = client(at_resource(pinned(&peer).client_credentials(credentials)));
        assert_eq!(track(&client, &host).expect("a result"), "in Lyon");
        assert_eq!(tokens(&peer), ["Bearer t-1"]);
        let [request] = &host.requests()[..] else { panic!("one request") };
        assert_eq!(request.body(), &form);
        assert_eq!(request.headers()["content-type"], "application/x-www-form-urlencoded");
        assert_eq!(request.headers().get("authorization").map(|value| value.to_str().expect("ASCII")), header);
    }
}

/// C62: the query of a server's URL may be a secret, so the authorization server does not get it.
#[test]
fn the_resource_has_no_query() {
    let host = TestHost::new().respond("POST", TOKEN_URL, 200, issued("t-1", 3600));
    let peer = Peer::new([modern("in Lyon")]);
    let upstream = Upstream::via("https://parcels.example/mcp?key=SECRET-4", peer.clone()).expect("a URL");
    track(&client(upstream.revision(Revision::V2026_07_28).client_credentials(own_credentials())), &host)
        .expect("a result");
    assert!(
        host.requests()[0].body().contains("&resource=https%3A%2F%2Fparcels.example%2Fmcp&"),
        "{:?}",
        host.requests()
    );
    assert_eq!(peer.requests()[0].uri(), "https://parcels.example/mcp?key=SECRET-4");
}

/// C62: a token is kept until 60 s before its end, also between connections.
#[test]
fn an_issued_token_is_kept_until_its_end() {
    for (expires_in, kept_for) in [(3600, 3540), (90, 45), (0, 1)] {
        let host = TestHost::new();
        for nth in 1..4 {
            drop(host.clone().respond("POST", TOKEN_URL, 200, issued(&format!("t-{nth}"), expires_in)));
        }
        let peer = Peer::new((0..3).map(|_| modern("in Lyon")));
        let client = client(pinned(&peer).client_credentials(own_credentials()));
        track(&client, &host).expect("a result");
        host.advance(Duration::from_secs(kept_for - 1));
        track(&client, &host).expect("a result");
        host.advance(Duration::from_secs(1));
        track(&client, &host).expect("a result");
        assert_eq!(tokens(&peer), ["Bearer t-1", "Bearer t-1", "Bearer t-2"], "{expires_in}");
    }
}

/// C62: a kept token that is rejected is replaced once. A new token that is rejected ends the call.
#[test]
fn a_rejected_token_is_replaced_once() {
    let host = TestHost::new();
    for nth in 1..10 {
        drop(host.clone().respond("POST", TOKEN_URL, 200, issued(&format!("t-{nth}"), 3600)));
    }
    let peer = Peer::new([
        modern("in Lyon"),
        unauthorized(),
        modern("in Nice"),
        unauthorized(),
        unauthorized(),
        unauthorized(),
        modern("in Metz"),
    ]);
    let client = client(pinned(&peer).client_credentials(own_credentials()));
    let track = || {
        let outcome = track(&client, &host).map_err(|error| (error.failure().clone(), error.executed()));
        host.advance(Duration::from_mins(1));
        outcome
    };
    let outcomes: Vec<_> = (0..4).map(|_| track()).collect();
    let refused = || Err((Failure::Unauthorized, Executed::No));
    assert_eq!(outcomes, [Ok("in Lyon".into()), Ok("in Nice".into()), refused(), Ok("in Metz".into())]);
    let sent = ["t-1", "t-1", "t-2", "t-2", "t-3", "t-3", "t-4"].map(|token| format!("Bearer {token}"));
    assert_eq!(tokens(&peer), sent);
    assert_eq!(host.requests().len(), 4);
}

/// All callers share the token. A caller whose requests are rejected, for example because of a header that is passed on, replaces it at most
/// once per minute, and never leaves the others without a token.
#[test]
fn a_caller_does_not_drop_the_token_of_all() {
    let host = TestHost::new();
    for nth in 1..3 {
        drop(host.clone().respond("POST", TOKEN_URL, 200, issued(&format!("t-{nth}"), 3600)));
    }
    // After that, the authorization server issues no token.
    let host = host.respond("POST", TOKEN_URL, 503, "");
    let peer =
        Peer::new([modern("in Lyon")].into_iter().chain((0..5).map(|_| unauthorized())).chain([modern("in Nice")]));
    let client = client(pinned(&peer).client_credentials(own_credentials()));
    track(&client, &host).expect("a result");
    for _ in 0..5 {
        assert_eq!(track(&client, &host).expect_err("a failure").failure(), &Failure::Unauthorized);
    }
    assert_eq!(track(&client, &host).expect("a result"), "in Nice");
    assert_eq!((host.requests().len(), tokens(&peer)), (1, vec!["Bearer t-1".to_owned(); 7]));

    host.advance(Duration::from_mins(1));
    let peer_tokens = |answers: Vec<Answer>| {
        peer.add(answers);
        let outcome = track(&client, &host).map_err(|error| error.failure().clone());
        (outcome, tokens(&peer).last().cloned())
    };
    let with = |token: &str| Some(format!("Bearer {token}"));
    assert_eq!(peer_tokens(vec![unauthorized(), modern("in Metz")]), (Ok("in Metz".into()), with("t-2")));
    host.advance(Duration::from_mins(1));
    assert!(peer_tokens(vec![unauthorized()]).0.is_err(), "there is no other token");
    assert_eq!(peer_tokens(vec![modern("in Lyon")]), (Ok("in Lyon".into()), with("t-2")));
}

/// C62: a token that a legacy server rejects between `initialize` and `notifications/initialized` is replaced, and the notification is sent
/// again. A new token that is rejected ends the call.
#[test]
fn a_token_that_is_rejected_for_a_notification_is_replaced_once() {
    let initialized = || {
        let about = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {} });
        result(about).header("mcp-session-id", "s-1")
    };
    let accepted = || Answer::new(202, "", "");
    let done = || result(json!({ "content": [{ "type": "text", "text": "in Lyon" }] }));
    let host = TestHost::new();
    for nth in 1..10 {
        drop(host.clone().respond("POST", TOKEN_URL, 200, issued(&format!("t-{nth}"), 3600)));
    }
    let peer = Peer::new([
        initialized(),
        accepted(),
        done(),
        // The end of the session.
        accepted(),
        initialized(),
        unauthorized(),
        accepted(),
        done(),
        accepted(),
        initialized(),
        unauthorized(),
        unauthorized(),
    ]);
    let client = client(at(&peer).revision(Revision::V2025_11_25).client_credentials(own_credentials()));
    for _ in 0..2 {
        assert_eq!(track(&client, &host).expect("a result"), "in Lyon");
        testing::run(host.run(async {})).expect("the session ends");
        host.advance(Duration::from_mins(1));
    }
    let error = track(&client, &host).expect_err("a failure");
    assert_eq!((error.failure(), error.executed()), (&Failure::Unauthorized, Executed::No));
    let expected = [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3].map(|nth| format!("Bearer t-{nth}"));
    assert_eq!(tokens(&peer)[..12], expected, "{:?}", peer.methods());
}

/// C62: missing scopes are an error that names them, without another token.
#[test]
fn missing_scopes_do_not_request_a_token() {
    let host = TestHost::new().respond("POST", TOKEN_URL, 200, issued("t-1", 3600));
    let forbidden = Answer::new(403, "", "")
        .header("www-authenticate", "Bearer error=\"insufficient_scope\", scope=\"parcels:admin\"");
    let peer = Peer::new([forbidden]);
    let error = track(&client(pinned(&peer).client_credentials(own_credentials())), &host).expect_err("a failure");
    assert_eq!(error.to_string(), "The server `parcels` requires scopes that the token lacks: parcels:admin.");
    assert_eq!((host.requests().len(), peer.requests().len()), (1, 1));
}

/// Parallel requests of a connection share one request for a token.
#[test]
fn parallel_requests_share_a_token() {
    let host = TestHost::new().respond("POST", TOKEN_URL, 200, issued("t-1", 3600));
    let peer = Peer::new([modern("a"), modern("b")]);
    let client = client(pinned(&peer).client_credentials(own_credentials()));
    let server = client.connect(&context(&host)).server("parcels").expect("a server");
    let both =
        async { futures::join!(server.call("a", json!({})).into_future(), server.call("b", json!({})).into_future()) };
    let (a, b) = testing::run(host.run(both)).expect("the calls end");
    assert!(a.is_ok() && b.is_ok());
    assert_eq!((tokens(&peer), host.requests().len()), (vec!["Bearer t-1".to_owned(); 2], 1));
}

/// C51, C78, the hostile case 49: answers of an authorization server that is hostile or broken. Errors show at most an error code of them.
#[test]
fn an_answer_without_a_token_is_an_error() {
    let rejects = "rejects the request for an access token";
    let long = "x".repeat((8 << 10) + 1);
    let answer = |members: Value| {
        let mut answer = json!({ "access_token": "SECRET-1", "token_type": "bearer" });
        answer.as_object_mut().expect("an object").extend(members.as_object().expect("an object").clone());
        answer.to_string()
    };
    for (status, body, expected) in [
        (200, answer(json!({ "error": "invalid_client" })), format!("{rejects} (invalid_client)")),
        (
            400,
            r#"{"error":"invalid_scope","error_description":"The scope 'SECRET-1' is unknown"}"#.into(),
            format!("{rejects} (invalid_scope)"),
        ),
        (400, r#"{"error":"SECRET-1 <b>"}"#.into(), format!("{rejects} (an unknown error)")),
        (401, "<p>SECRET-1</p>".into(), format!("{rejects} (status 401)")),
        (302, String::new(), format!("{rejects} (status 302)")),
        (200, "access_token=SECRET-1&token_type=bearer".into(), "sent an answer that is not a JSON object".into()),
        (200, "[]".into(), "sent an answer that is not a JSON object".into()),
        (
            200,
            r#"{"access_token":"SECRET-1","access_token":"b","token_type":"bearer"}"#.into(),
            "sent an answer".into(),
        ),
        (
            200,
            answer(json!({ "token_type": "DPoP" })),
            "issued a token that is not a bearer token, but requires DPoP".into(),
        ),
        (200, answer(json!({ "token_type": null })), "issued a token that is not a bearer token".into()),
        (200, answer(json!({ "access_token": "SECRET-1\nx" })), "issued a token that no header can contain".into()),
        (200, answer(json!({ "access_token": "" })), "issued a token that no header can contain".into()),
        (200, answer(json!({ "access_token": long })), "issued a token that no header can contain".into()),
        (200, answer(json!({ "expires_in": -1 })), "issued a token whose lifetime is not a number".into()),
        (200, answer(json!({ "expires_in": 1e300 })), "issued a token whose lifetime is not a number".into()),
    ] {
        let host = TestHost::new().respond("POST", TOKEN_URL, status, body.clone());
        let peer = Peer::new([]);
        let error = track(&client(pinned(&peer).client_credentials(own_credentials())), &host).expect_err(&body);
        let start = format!("The server `parcels` was not called, because its authorization server {expected}");
        let shown = format!("{error} {error:?} {}", host.log_text());
        assert!(error.to_string().starts_with(&start), "{body}: {error}");
        assert!(!shown.contains("SECRET-1") && !shown.contains("4711"), "{shown}");
        assert_eq!((error.executed(), peer.requests().len()), (Executed::No, 0), "{body}");
    }
    for expires_in in [json!("3600"), json!(null)] {
        let host = TestHost::new().respond("POST", TOKEN_URL, 200, answer(json!({ "expires_in": expires_in })));
        assert!(
            track(&client(pinned(&Peer::new([modern("in Lyon")])).client_credentials(own_credentials())), &host)
                .is_ok()
        );
    }
    let silent = TestHost::new().fetch(|_, _| pending());
    let error =
        track(&client(pinned(&Peer::new([])).client_credentials(own_credentials())), &silent).expect_err("a failure");
    assert!(error.to_string().contains("its authorization server cannot be reached"), "{error}");
    assert_eq!(silent.waits(), [Duration::from_secs(5)]);
}

#[test]
fn invalid_client_credentials_are_rejected() {
    let https = "must be an https: URL, unless it is on localhost";
    let endpoint = AuthorizationServer::token_endpoint("http://auth.example/token").expect_err("the URL");
    assert_eq!(endpoint.to_string(), format!("the URL of the token endpoint {https}"));
    let issuer = AuthorizationServer::issuer("http://auth.example").expect_err("the URL");
    assert_eq!(issuer.to_string(), format!("the URL of the issuer {https}"));
    let server = token_endpoint;
    for error in [ClientCredentials::basic(server(), "", SECRET), ClientCredentials::post(server(), "", SECRET)] {
        assert_eq!(error.expect_err("the id").to_string(), "the client id is empty");
    }
}

/// C61: the debug output of a credential has neither a secret nor a token.
#[test]
fn debug_output_has_no_token() {
    let host = TestHost::new().respond("POST", TOKEN_URL, 200, issued("SECRET-1", 3600));
    let peer = Peer::new([modern("in Lyon")]);
    track(&client(pinned(&peer).client_credentials(own_credentials())), &host).expect("a result");
    let with_query = Upstream::at("https://parcels.example/mcp?key=SECRET-4").expect("a URL");
    let upstream = at(&peer).header("x-key", "SECRET-2").expect("a header").bearer("SECRET-3").expect("a token");
    let shown =
        format!("{:?} {:?} {upstream:?} {with_query:?} {:?}", own_credentials(), peer.requests(), host.requests());
    assert!(shown.contains(TOKEN_URL) && shown.contains("https://parcels.example/mcp"), "{shown}");
    for secret in ["SECRET", "4711", "dGhlK2Rlc2s6"] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
}

/// Everything that a peer and the network got, with the values of sensitive headers.
fn traffic(requests: &[http::Request<String>]) -> String {
    let shown = |request: &http::Request<String>| {
        let header = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
            format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes()))
        };
        let headers: String = request.headers().iter().map(header).collect();
        [request.method().as_str(), &request.uri().to_string(), &headers, request.body()].join("\n")
    };
    requests.iter().map(shown).collect()
}

/// A name, and the way in which the credential of a server is set.
type Mode = (&'static str, Box<dyn Fn(Upstream) -> Upstream>);

/// Reads a resource, gets a prompt and calls a tool.
async fn use_all(client: McpClient, cx: Context) -> Result<String, HandlerError> {
    let parcels = client.connect(&cx).server("parcels")?;
    parcels.read_resource("parcels://7").await?;
    parcels.get_prompt("label", json!({})).await?;
    Ok(parcels.call("track", json!({})).await?.text())
}

/// C60: the token of this program's own caller reaches neither a server nor an authorization server, in every mode.
#[test]
fn the_token_of_the_caller_is_never_passed_on() {
    const CALLER: &str = "CALLER-4711";
    let tokens = format!(r#"[{{"token": "{CALLER}", "subject": "ada", "scopes": ["kb:read"]}}]"#);
    let own = |_: Context| ready(Ok::<_, HandlerError>(Some("OWN-1".to_owned())));
    let modes: [Mode; 5] = [
        ("no credential", Box::new(|upstream| upstream)),
        ("a fixed token", Box::new(|upstream| upstream.bearer("OWN-1").expect("a token"))),
        ("a token per call", Box::new(move |upstream| upstream.bearer_with(own))),
        ("client credentials", Box::new(|upstream| upstream.client_credentials(own_credentials()))),
        ("a header", Box::new(|upstream| upstream.header("x-key", "OWN-1").expect("a header"))),
    ];
    for (mode, configure) in modes {
        for revision in [None, Some(Revision::V2026_07_28), Some(Revision::V2025_11_25)] {
            let answers = || {
                let tools = json!([{ "name": "track", "inputSchema": { "type": "object" } }]);
                let all = json!({
                    "protocolVersion": "2025-11-25", "capabilities": {}, "resultType": "complete", "tools": tools,
                    "content": [{ "type": "text", "text": "in Lyon" }], "contents": [], "messages": [],
                });
                result(all).header("mcp-session-id", "s-1")
            };
            let peer = Peer::new((0..40).map(|_| answers()));
            let mut upstream = configure(at(&peer));
            if let Some(revision) = revision {
                upstream = upstream.revision(revision);
            }
            let desk = client(upstream);
            let endpoint = testing::endpoint(move |_| {
                let small = ChatModel::new("http://localhost:11434/v1", "small").expect("a model");
                let clerk = ChatAgent::new("clerk", "The clerk", "Knows.", small).source(desk.tools(["parcels_track"]));
                let of_tool = desk.clone();
                McpServer::builder("desk", "1.0.0")
                    .tool(Tool::new("read", "Reads.", move |cx: Context| use_all(of_tool.clone(), cx)))
                    .source(desk.tools(["parcels_track"]))
                    .agent(clerk)
                    .build()
            });
            let endpoint = endpoint.auth(StaticTokens::from_json("T", Some(&tokens)).expect("tokens"));
            let answers = std::cell::Cell::new(0);
            let host = TestHost::new().fetch(move |request, _| {
                if request.uri() == TOKEN_URL {
                    return ready(Ok(edge_mcp::host::Fetched::new(200, issued("OWN-1", 3600))));
                }
                answers.set(answers.get() + 1);
                ready(match answers.get() {
                    1 => calls(&[("parcels_track", json!({}))]),
                    _ => choice(json!({ "role": "assistant", "content": "In Lyon." }), "stop"),
                })
            });
            let caller = Client::new(&endpoint).host(&host).token(CALLER).header("cookie", CALLER);
            testing::run(async {
                assert_eq!(caller.list("tools").await.names(), ["read", "ask_clerk", "parcels_track"], "{mode}");
                for (tool, arguments) in
                    [("read", json!({})), ("parcels_track", json!({})), ("ask_clerk", json!({ "message": "?" }))]
                {
                    let answer = caller.call(tool, arguments).await;
                    assert!(!answer.is_error(), "{mode} {revision:?} {tool}: {answer:?}");
                }
            });
            let all = format!("{}{}", traffic(&peer.requests()), traffic(&host.requests()));
            assert_eq!(all.contains("OWN-1"), mode != "no credential", "{mode}");
            assert!(!all.contains(CALLER), "{mode} {revision:?}: {all}");
        }
    }
}
