//! The discovery of the authorization server of an MCP server, and the tokens that it issues to this program.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::auth::Algorithm;
use edge_mcp::client::{AuthorizationServer, ClientCredentials, ClientError, Executed, Failure, SigningKey, Upstream};
use edge_mcp::host::{CannotSign, Fetched};
use edge_mcp::protocol::Revision;
use edge_mcp::testing::{self, TestHost};
use futures::future::{pending, ready};
use http::{Method, Request};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
    RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey, VerificationAlgorithm,
};
use serde_json::{Value, json};

use crate::calls::{client, context, modern};
use crate::local_host;
use crate::peer::{Answer, Peer, result};

const URL: &str = "https://parcels.example/public/mcp";
const ISSUER: &str = "https://auth.example/tenant";
const RESOURCE_METADATA: &str = "https://parcels.example/.well-known/oauth-protected-resource/public/mcp";
const SERVER_METADATA: &str = "https://auth.example/.well-known/oauth-authorization-server/tenant";
const TOKEN: &str = "https://auth.example/tenant/token";
const SECRET: &str = "SECRET-4711";

fn issuer() -> AuthorizationServer {
    AuthorizationServer::issuer(ISSUER).expect("a URL")
}

fn credentials() -> ClientCredentials {
    ClientCredentials::basic(issuer(), "desk", SECRET).expect("credentials")
}

fn unauthorized(challenge: &str) -> Answer {
    Answer::new(401, "", "").header("www-authenticate", challenge)
}

/// A network of metadata and tokens. Each member of `changes` is a URL and what is there instead: a value is merged into the document, and a
/// number is a status.
fn network(changes: &[(&str, Value)]) -> TestHost {
    let mut documents = vec![
        (RESOURCE_METADATA.to_owned(), json!({ "resource": URL, "authorization_servers": [ISSUER] })),
        (SERVER_METADATA.to_owned(), json!({ "issuer": ISSUER, "token_endpoint": TOKEN })),
        (TOKEN.to_owned(), json!({ "access_token": "t-1", "token_type": "bearer", "expires_in": 3600 })),
    ];
    for (url, change) in changes {
        let at = documents.iter().position(|(known, _)| known == url);
        match (at, change.as_object()) {
            (Some(at), Some(members)) => documents[at].1.as_object_mut().expect("an object").extend(members.clone()),
            (Some(at), None) => documents[at].1 = change.clone(),
            (None, _) => documents.push(((*url).to_owned(), change.clone())),
        }
    }
    TestHost::new().fetch(move |request, _| {
        let url = request.uri().to_string();
        let document = documents.iter().find(|(known, _)| *known == url).map(|(_, document)| document.clone());
        ready(Ok(match document {
            None => Fetched::new(404, "not found"),
            Some(Value::Number(status)) => {
                let status = status.as_u64().and_then(|status| status.try_into().ok()).expect("a status");
                Fetched::new(status, r#"{"issuer":"https://auth.example/tenant"}"#)
            }
            Some(Value::String(text)) => Fetched::new(200, text),
            Some(document) => Fetched::new(200, document.to_string()),
        }))
    })
}

/// Calls a tool of `peer` with these credentials.
fn track(peer: &Peer, credentials: ClientCredentials, host: &TestHost) -> Result<String, ClientError> {
    let upstream = Upstream::via(URL, peer.clone()).expect("a URL").revision(Revision::V2026_07_28);
    call(&client(upstream.client_credentials(credentials)), host)
}

fn call(client: &edge_mcp::client::McpClient, host: &TestHost) -> Result<String, ClientError> {
    let connection = client.connect(&context(host));
    let call = connection.server("parcels")?.call("track", json!({}));
    testing::run(host.run(async move { call.await.map(|result| result.text()) })).expect("the call ends")
}

/// Returns the URLs of the requests to other servers than the MCP server.
fn urls(host: &TestHost) -> Vec<String> {
    host.requests().iter().map(|request| request.uri().to_string()).collect()
}

/// Returns the fields of the last form, and the `Authorization` header of its request.
fn last_form(host: &TestHost) -> (Vec<(String, String)>, Option<String>) {
    let request = host.requests().pop().expect("a request");
    assert_eq!(request.method(), Method::POST);
    let header = request.headers().get("authorization").map(|value| value.to_str().expect("ASCII").to_owned());
    (form_urlencoded::parse(request.body().as_bytes()).into_owned().collect(), header)
}

fn field(host: &TestHost, name: &str) -> Option<String> {
    last_form(host).0.into_iter().find(|(field, _)| field == name).map(|(_, value)| value)
}

/// C68, C76, C83: a 401 leads to the metadata of the MCP server, to that of the authorization server, and to a token. The token is kept, so
/// the next call has no 401.
#[test]
fn a_rejection_leads_to_a_token() {
    let challenge = format!(r#"Basic realm="a, b", Bearer resource_metadata="{RESOURCE_METADATA}""#);
    let peer = Peer::new([unauthorized(&challenge), modern("in Lyon"), modern("in Nice")]);
    let host = network(&[]);
    let upstream = Upstream::via(URL, peer.clone()).expect("a URL").revision(Revision::V2026_07_28);
    let client = client(upstream.client_credentials(credentials()));
    assert_eq!(call(&client, &host).expect("a result"), "in Lyon");
    assert_eq!(call(&client, &host).expect("a result"), "in Nice");
    assert_eq!(urls(&host), [RESOURCE_METADATA, SERVER_METADATA, TOKEN]);
    assert!(host.requests()[..2].iter().all(|request| request.headers().get("authorization").is_none()));
    let authorization = |request: &Request<String>| request.headers().get("authorization").cloned();
    let sent: Vec<_> = peer.requests().iter().map(authorization).collect();
    assert_eq!(sent, [None, Some("Bearer t-1".parse().expect("ASCII")), Some("Bearer t-1".parse().expect("ASCII"))]);
    let (form, header) = last_form(&host);
    let expected = [("grant_type", "client_credentials"), ("resource", URL)];
    assert_eq!(form, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert_eq!(header.as_deref(), Some("Basic ZGVzazpTRUNSRVQtNDcxMQ=="));

    // The token has ended. The client requests another one before its next request.
    host.advance(Duration::from_hours(1));
    drop(call(&client, &host));
    assert_eq!(urls(&host).len(), 4);
}

/// A server of revision 2025-03-26 has no metadata of its own: it is its own authorization server.
#[test]
fn a_server_without_metadata_is_its_own_authorization_server() {
    let origin = "https://parcels.example";
    let at_origin = format!("{origin}/.well-known/oauth-authorization-server");
    let own = json!({ "issuer": origin, "token_endpoint": format!("{origin}/token") });
    let foreign = json!({ "issuer": origin, "token_endpoint": TOKEN });
    let issued = json!({ "access_token": "t-1", "token_type": "bearer" });
    for (server, credentials, expected) in [
        (own.clone(), AuthorizationServer::any(), Ok("in Lyon")),
        (own.clone(), AuthorizationServer::issuer(origin).expect("a URL"), Ok("in Lyon")),
        (own, issuer(), Err("it does not name its authorization server")),
        // The operator has named the issuer, or has not.
        (foreign.clone(), AuthorizationServer::issuer(origin).expect("a URL"), Ok("in Lyon")),
        (foreign, AuthorizationServer::any(), Err("`token_endpoint` in its challenge or metadata is on another host")),
        (json!(404), AuthorizationServer::any(), Err("it does not name its authorization server")),
        (json!({ "issuer": ISSUER, "token_endpoint": TOKEN }), AuthorizationServer::any(), Err("has another issuer")),
    ] {
        let peer = Peer::new([unauthorized("Bearer"), modern("in Lyon")]);
        let host = network(&[
            (RESOURCE_METADATA, json!(404)),
            (&at_origin, server),
            ("https://parcels.example/token", issued.clone()),
        ]);
        let credentials = ClientCredentials::basic(credentials, "desk", SECRET).expect("credentials");
        match (track(&peer, credentials, &host), expected) {
            (Ok(text), Ok(expected)) => {
                assert_eq!(text, expected);
                assert_eq!(field(&host, "resource").as_deref(), Some(URL));
            }
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected), "{error}"),
            (outcome, _) => panic!("{outcome:?}"),
        }
    }
}

/// C68: the well-known URLs of both documents, in their order. A page of HTML and a status below 500 mean that there is no document.
#[test]
fn metadata_is_searched_at_the_well_known_urls() {
    let origin = "https://parcels.example/.well-known/oauth-protected-resource";
    let openid = "https://auth.example/.well-known/openid-configuration/tenant";
    let appended = "https://auth.example/tenant/.well-known/openid-configuration";
    let resource = json!({ "resource": URL, "authorization_servers": [ISSUER] });
    let server = json!({ "issuer": ISSUER, "token_endpoint": TOKEN });
    for (changes, expected) in [
        (vec![], vec![RESOURCE_METADATA, SERVER_METADATA, TOKEN]),
        (
            vec![(RESOURCE_METADATA, json!(404)), (origin, resource.clone())],
            vec![RESOURCE_METADATA, origin, SERVER_METADATA, TOKEN],
        ),
        (
            vec![(RESOURCE_METADATA, json!("{}")), (origin, resource)],
            vec![RESOURCE_METADATA, origin, SERVER_METADATA, TOKEN],
        ),
        (
            vec![(SERVER_METADATA, json!(404)), (openid, server.clone())],
            vec![RESOURCE_METADATA, SERVER_METADATA, openid, TOKEN],
        ),
        (
            vec![(SERVER_METADATA, json!(302)), (openid, json!(404)), (appended, server.clone())],
            vec![RESOURCE_METADATA, SERVER_METADATA, openid, appended, TOKEN],
        ),
        // Some servers answer each unknown URL with a JSON document, or with a failure.
        (
            vec![
                (SERVER_METADATA, json!({ "issuer": "https://auth.example" })),
                (openid, json!("{}")),
                (appended, server.clone()),
            ],
            vec![RESOURCE_METADATA, SERVER_METADATA, openid, appended, TOKEN],
        ),
        (
            vec![(SERVER_METADATA, json!(500)), (openid, server)],
            vec![RESOURCE_METADATA, SERVER_METADATA, openid, TOKEN],
        ),
    ] {
        let (peer, host) = (Peer::new([unauthorized("Bearer"), modern("in Lyon")]), network(&changes));
        assert_eq!(track(&peer, credentials(), &host).expect("a result"), "in Lyon");
        assert_eq!(urls(&host), expected);
    }
}

/// C68, C70, C71, C74, hostile cases 46 and 48: metadata of hostile servers. The secret is not sent, and a message has nothing of a document.
#[test]
fn hostile_metadata_ends_the_discovery() {
    let (resource, server) = (RESOURCE_METADATA, SERVER_METADATA);
    let other = "its metadata describes another resource";
    let not_ours = "it does not use the authorization server that the credentials";
    for (changes, expected) in [
        (vec![(resource, json!({ "resource": "https://evil.example/public/mcp" }))], other),
        (vec![(resource, json!({ "resource": "https://parcels.example/public/mc" }))], other),
        (vec![(resource, json!({ "resource": "https://parcels.example/public/mcp/x" }))], other),
        (vec![(resource, json!({ "resource": "https://parcels.example/public" }))], other),
        (vec![(resource, json!({ "resource": "https://parcels.example" }))], other),
        (vec![(resource, json!({ "authorization_servers": ["https://evil.example"] }))], not_ours),
        (vec![(resource, json!({ "authorization_servers": ["https://auth.example/tenant/"] }))], not_ours),
        (vec![(resource, json!({ "authorization_servers": ["https://AUTH.example/tenant"] }))], not_ours),
        (vec![(resource, json!({ "authorization_servers": [] }))], not_ours),
        (vec![(resource, json!({ "authorization_servers": ISSUER }))], "its protected resource metadata is not valid"),
        (vec![(resource, json!(404))], "it does not name its authorization server"),
        (vec![(resource, json!(503))], "its protected resource metadata cannot be reached"),
        (vec![(resource, json!(" ".repeat(70_000)))], "its protected resource metadata cannot be reached"),
        (vec![(server, json!({ "issuer": "https://auth.example/tenant/" }))], "has another issuer"),
        (vec![(server, json!({ "issuer": "https://auth.example/Tenant" }))], "has another issuer"),
        (vec![(server, json!({ "issuer": "https://evil.example" }))], "has another issuer"),
        (vec![(server, json!({ "issuer": [ISSUER] }))], "the metadata of its authorization server is not valid"),
        (vec![(server, json!("<p>SECRET-1</p>"))], "the metadata of its authorization server is not valid"),
        (vec![(server, json!({ "token_endpoint": null }))], "the metadata of its authorization server is not valid"),
        (
            vec![(server, json!({ "token_endpoint": "javascript:alert(1)" }))],
            "the URL `token_endpoint` in its challenge",
        ),
        (vec![(server, json!({ "token_endpoint": "http://auth.example/token" }))], "must be an https: URL"),
        (vec![(server, json!({ "token_endpoint": "https://169.254.169.254/token" }))], "has an IP address"),
        (vec![(server, json!({ "token_endpoint": "https://auth.example:8443/" }))], "has a port other than 443"),
        (vec![(server, json!(500))], "its authorization server cannot be reached"),
        (vec![(server, json!(404))], "its authorization server has no metadata"),
        (
            vec![(server, json!({ "token_endpoint_auth_methods_supported": ["private_key_jwt"] }))],
            "does not support the authentication method `client_secret_basic`",
        ),
    ] {
        let (peer, host) = (Peer::new([unauthorized("Bearer")]), network(&changes));
        let error = track(&peer, credentials(), &host).expect_err(expected);
        let shown = format!("{error} {error:?} {}", host.log_text());
        assert!(error.to_string().contains(expected), "{changes:?}: {error}");
        assert!(!shown.contains("SECRET-") && !shown.contains("evil"), "{shown}");
        assert!(host.requests().iter().all(|request| request.method() == Method::GET), "{changes:?}");
        assert_eq!((error.executed(), peer.requests().len()), (Executed::No, 1), "{changes:?}");
    }
}

/// C70, C71, hostile case 46: the URL in a challenge is on the origin of the MCP server. No other URL is fetched.
#[test]
fn the_metadata_of_a_challenge_is_on_the_same_origin() {
    for url in [
        "https://evil.example/x",
        "https://parcels.example.evil.example/x",
        "http://parcels.example/x",
        "https://169.254.169.254/x",
        "https://[::ffff:7f00:1]/x",
        "https://2130706433/x",
        "https://user@parcels.example/x",
        "https://parcels.example:8443/x",
        "",
    ] {
        let challenge = format!(r#"Bearer resource_metadata="{url}""#);
        let (peer, host) = (Peer::new([unauthorized(&challenge)]), network(&[]));
        let error = track(&peer, credentials(), &host).expect_err(url);
        assert!(
            error.to_string().contains("the URL `resource_metadata` in its challenge or metadata"),
            "{url}: {error}"
        );
        assert!(host.requests().is_empty(), "{url}");
    }
}

/// C71: metadata has 5 s, and no more requests than the connection may send.
#[test]
fn discovery_has_a_time_limit() {
    let (peer, host) = (Peer::new([unauthorized("Bearer")]), TestHost::new().fetch(|_, _| pending()));
    let error = track(&peer, credentials(), &host).expect_err("a failure");
    assert!(error.to_string().contains("its protected resource metadata cannot be reached"), "{error}");
    assert_eq!((host.waits(), host.requests().len()), (vec![Duration::from_secs(5)], 1));
}

/// C62, C79: the scopes are those of the program, else of the challenge, else of the metadata, else the parameter is left out.
#[test]
fn the_first_source_of_scopes_counts() {
    let listed = [(RESOURCE_METADATA, json!({ "scopes_supported": ["m", "no\"scope"] }))];
    let own = || credentials().scopes(["own"]);
    for (credentials, challenge, changes, expected) in [
        (own(), r#"Bearer scope="a b""#, &listed[..], Some("own")),
        (credentials(), r#"Bearer scope="a b""#, &listed[..], Some("a b")),
        (credentials(), "Bearer", &listed[..], Some("m")),
        (credentials(), "Bearer", &[], None),
    ] {
        let (peer, host) = (Peer::new([unauthorized(challenge), modern("in Lyon")]), network(changes));
        track(&peer, credentials, &host).expect("a result");
        assert_eq!(field(&host, "scope").as_deref(), expected, "{challenge}");
    }
}

/// C3, C44: a list belongs to the token with which the server accepted the request, and not to the rejected credential.
#[test]
fn a_list_is_cached_for_the_accepted_token() {
    let tools = json!({
        "resultType": "complete", "tools": [{ "name": "a", "inputSchema": { "type": "object" } }], "ttlMs": 60_000,
        "cacheScope": "private",
    });
    let (peer, host) = (Peer::new([unauthorized("Bearer"), result(tools)]), network(&[]));
    let upstream = Upstream::via(URL, peer.clone()).expect("a URL").revision(Revision::V2026_07_28);
    let client = client(upstream.client_credentials(credentials()));
    for _ in 0..2 {
        let server = client.connect(&context(&host)).server("parcels").expect("a server");
        let list = testing::run(host.run(async move { server.list_tools().await })).expect("the request ends");
        assert_eq!(list.expect("a list").items.len(), 1);
    }
    assert_eq!(peer.requests().len(), 2);
}

/// C83, hostile case 47: one repetition. A server that rejects each token gets two requests.
#[test]
fn a_second_rejection_ends_the_call() {
    let peer = Peer::new([unauthorized("Bearer"), unauthorized("Bearer"), modern("in Lyon")]);
    let host = network(&[]);
    let error = track(&peer, credentials(), &host).expect_err("a failure");
    assert_eq!((error.failure(), error.executed()), (&Failure::Unauthorized, Executed::No));
    assert_eq!((peer.requests().len(), urls(&host).len()), (2, 3));
}

/// C74: without a pinned issuer, the first authorization server counts. A server that moves to another one leads to its metadata.
#[test]
fn a_rejected_token_begins_a_new_discovery() {
    let issuers = Rc::new(RefCell::new(json!(["https://one.example", "https://two.example"])));
    let listed = issuers.clone();
    let host = TestHost::new().fetch(move |request, _| {
        let url = request.uri().to_string();
        let issuer = url.split("/.well-known").next().unwrap_or_default();
        let body = match url.as_str() {
            RESOURCE_METADATA => json!({ "resource": URL, "authorization_servers": *listed.borrow() }),
            _ if url.ends_with("/token") => json!({ "access_token": url, "token_type": "Bearer" }),
            _ => json!({ "issuer": issuer, "token_endpoint": format!("{issuer}/token") }),
        };
        ready(Ok(Fetched::new(200, body.to_string())))
    });
    let peer = Peer::new([unauthorized("Bearer"), modern("a"), unauthorized("Bearer"), modern("b")]);
    let upstream = Upstream::via(URL, peer.clone()).expect("a URL").revision(Revision::V2026_07_28);
    let key = SigningKey::from_pem(Algorithm::EdDsa, &pem(b"key")).expect("a key");
    let own = ClientCredentials::private_key_jwt(AuthorizationServer::any(), "desk", key).expect("credentials");
    let client = client(upstream.client_credentials(own));
    let host = host.sign(|_, _| Ok(vec![1]));
    assert_eq!(call(&client, &host).expect("a result"), "a");
    issuers.replace(json!(["https://two.example"]));
    host.advance(Duration::from_mins(1));
    assert_eq!(call(&client, &host).expect("a result"), "b");
    let tokens: Vec<_> = urls(&host).into_iter().filter(|url| url.ends_with("/token")).collect();
    assert_eq!(tokens, ["https://one.example/token", "https://two.example/token"]);
}

fn pem(der: &[u8]) -> String {
    use base64::Engine;
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<_> = text.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n"))
}

/// C76: an assertion is signed with the key of the client. Its audience is the issuer, and no two have the same id.
#[test]
fn an_assertion_proves_the_private_key() {
    let random = SystemRandom::new();
    let p256 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
    let ed25519 = Ed25519KeyPair::generate_pkcs8(&random).expect("a key");
    let rsa = include_bytes!("../auth/rsa.pk8");
    let public = |algorithm: Algorithm| -> (Vec<u8>, &'static dyn VerificationAlgorithm) {
        match algorithm {
            Algorithm::Rs256 => {
                let key = RsaKeyPair::from_pkcs8(rsa).expect("a key");
                (key.public_key().as_ref().to_vec(), &RSA_PKCS1_2048_8192_SHA256)
            }
            Algorithm::Es256 => {
                let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, p256.as_ref(), &random);
                (key.expect("a key").public_key().as_ref().to_vec(), &ECDSA_P256_SHA256_FIXED)
            }
            Algorithm::EdDsa => {
                let key = Ed25519KeyPair::from_pkcs8(ed25519.as_ref()).expect("a key");
                (key.public_key().as_ref().to_vec(), &ED25519)
            }
        }
    };
    for (algorithm, der) in
        [(Algorithm::Rs256, &rsa[..]), (Algorithm::Es256, p256.as_ref()), (Algorithm::EdDsa, ed25519.as_ref())]
    {
        let key = SigningKey::from_pem(algorithm, &pem(der)).expect("a key").id("k-1");
        assert!(!format!("{key:?}").contains(&format!("{:?}", &der[..4])), "{key:?}");
        let own = ClientCredentials::private_key_jwt(issuer(), "desk", key).expect("credentials");
        let (peer, host) = (Peer::new([unauthorized("Bearer"), modern("in Lyon")]), network(&[]));
        let host = host.sign(|key, message| local_host::sign(&key, &message));
        track(&peer, own, &host).expect("a result");
        let (form, header) = last_form(&host);
        let names: Vec<_> = form.iter().map(|(name, _)| name.as_str()).collect();
        let expected = ["grant_type", "resource", "client_id", "client_assertion_type", "client_assertion"];
        assert_eq!((names, header), (expected.to_vec(), None));
        let kind = field(&host, "client_assertion_type").expect("a type");
        assert_eq!(kind, "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");

        let assertion = field(&host, "client_assertion").expect("an assertion");
        let (message, signature) = assertion.rsplit_once('.').expect("a signature");
        let decoded = |text: &str| {
            use base64::Engine;
            base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(text).expect("base64url")
        };
        let (header, claims) = message.split_once('.').expect("two parts");
        let object = |text: &str| serde_json::from_slice::<Value>(&decoded(text)).expect("JSON");
        assert_eq!(object(header), json!({ "alg": algorithm.name(), "typ": "JWT", "kid": "k-1" }));
        let (claims, now) = (object(claims), edge_mcp::host::Host::now_ms(&host) / 1000);
        assert_eq!(claims["jti"].as_str().map(str::len), Some(22));
        for (name, value) in
            [("iss", json!("desk")), ("sub", json!("desk")), ("aud", json!(ISSUER)), ("exp", json!(now + 60))]
        {
            assert_eq!(claims[name], value, "{name}");
        }
        let (key, verification) = public(algorithm);
        let key = UnparsedPublicKey::new(verification, key);
        assert!(key.verify(message.as_bytes(), &decoded(signature)).is_ok(), "{algorithm:?}");
    }
}

/// A key that the host does not accept ends the call. Only the log has the reason.
#[test]
fn a_key_that_cannot_sign_ends_the_call() {
    let key = SigningKey::from_pem(Algorithm::Es256, &pem(b"key")).expect("a key");
    let own = ClientCredentials::private_key_jwt(issuer(), "desk", key).expect("credentials");
    let (peer, host) = (Peer::new([unauthorized("Bearer")]), network(&[]));
    let host = host.sign(|_, _| Err(CannotSign("detail".into())));
    let error = track(&peer, own, &host).expect_err("a failure");
    assert!(error.to_string().ends_with("Check the credentials of this program."), "{error}");
    assert!(!error.to_string().contains("detail") && !urls(&host).contains(&TOKEN.to_owned()));
    for text in
        ["", "key", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\nAA=="]
    {
        assert!(SigningKey::from_pem(Algorithm::Rs256, text).is_err(), "{text}");
    }
}
