//! Tokens that the authorization server is asked about.

use std::time::Duration;

use edge_mcp::host::{FetchError, Fetched};
use edge_mcp::testing::TestHost;
use edge_mcp::{ConfigError, Endpoint, Introspection, ProtectedResource};
use serde_json::{Value, json};

use crate::claims::good;
use crate::issuer::{RESOURCE, basic, machine};
use crate::network;
use crate::support::{Answer, NOW, legacy, server};

const ENDPOINT: &str = "https://auth.example.com/introspect";

fn endpoint(validator: Introspection) -> Endpoint {
    let resource = ProtectedResource::at(RESOURCE).expect("a URL");
    Endpoint::new(server).resource(resource).auth(validator).without_rate_limit()
}

fn validator() -> Introspection {
    Introspection::new(ENDPOINT).expect("a URL")
}

fn ask(endpoint: &Endpoint, token: &str, network: &TestHost, second: u64) -> Answer {
    let whoami = legacy("tools/call", json!({ "name": "whoami" })).at(RESOURCE);
    whoami.bearer(token).ask_on(endpoint, &machine(network, second))
}

/// `active` is JSON `true`, and nothing that looks like it.
#[test]
fn active_is_true() {
    for (active, status) in [
        (json!(true), 200),
        (json!(false), 401),
        (json!("true"), 401),
        (json!("false"), 401),
        (json!(1), 401),
        (json!([true]), 401),
        (json!(null), 401),
    ] {
        let mut claims = good();
        claims["active"] = active.clone();
        let answer = ask(&endpoint(validator().without_cache()), "t", &network::answering(200, &claims), NOW);
        assert_eq!(answer.status, status, "{active}");
    }
}

/// An outage is no verdict: 503 with Retry-After and a text that says nothing of the inside; the cause is in the log.
#[test]
fn an_outage_is_no_verdict() {
    let failing = |error: FetchError| network::of(move |_| Err(error.clone()));
    let answering = |status: u16, body: &str| network::answering(status, body);
    let broken: Vec<(&str, TestHost)> = vec![
        ("down", failing(FetchError::Failed("connect ECONNREFUSED db-7.internal:5432".into()))),
        ("slow", failing(FetchError::TooSlow)),
        ("oversized", failing(FetchError::TooLarge)),
        ("redirecting", answering(302, "")),
        ("permanently redirecting", answering(308, &good().to_string())),
        ("failing", answering(500, &good().to_string())),
        ("of another mind", answering(201, &good().to_string())),
        ("refusing this server", answering(401, r#"{"error":"invalid_client"}"#)),
        ("not understanding", answering(400, r#"{"error":"invalid_request"}"#)),
        ("empty", answering(200, "")),
        ("no JSON", answering(200, "<html>db-7.internal:5432</html>")),
        ("truncated", answering(200, r#"{"active":true"#)),
        ("no object", answering(200, "true")),
        ("an array", answering(200, "[true]")),
        ("without an answer", answering(200, "{}")),
        ("of two minds", answering(200, r#"{"active":false,"active":true,"sub":"ada"}"#)),
        ("deep", answering(200, &format!(r#"{{"active":true,"x":{}{}}}"#, "[".repeat(1000), "]".repeat(1000)))),
    ];
    for (what, network) in broken {
        let host = machine(&network, NOW);
        let whoami = legacy("tools/call", json!({ "name": "whoami" })).at(RESOURCE).bearer("s3cret");
        let answer = whoami.ask_on(&endpoint(validator()), &host);
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")), "{what}");
        assert_eq!(answer.header("www-authenticate"), None, "{what}: the token may be good");
        assert_eq!(
            answer.message(),
            "Access tokens cannot be checked at the moment. Try again in a few seconds.",
            "{what}"
        );
        let line = &host.log()[0];
        assert!(line["refused"].as_str().is_some_and(|why| why.starts_with("unavailable: ")), "{what}: {line}");
        assert!(!host.log_text().contains("s3cret"), "{what}");
    }
}

/// An outage ends: nothing of it is kept.
#[test]
fn an_outage_ends() {
    let network = network::of(|_| Err(FetchError::TooSlow));
    let endpoint = endpoint(validator());
    assert_eq!(ask(&endpoint, "outage", &network, NOW).status, 503);
    network::change(&network, |_| Ok(Fetched::new(200, good().to_string())));
    assert_eq!(ask(&endpoint, "outage", &network, NOW).status, 200);
}

/// A token of a kind that the authorization server tells nothing of is not valid here, and no outage.
#[test]
fn another_kind_of_token_is_not_valid() {
    let network = network::answering(400, r#"{"error":"unsupported_token_type"}"#);
    assert_eq!(ask(&endpoint(validator().without_cache()), "a.b.c", &network, NOW).status, 401);
}

/// How the question is put: a form by POST, with limits, and with who asks.
#[test]
fn the_question_is_a_form() {
    let odd = "a:b%c+d e/ü";
    let encoded = "a%3Ab%25c%2Bd+e%2F%C3%BC";
    let post = format!("token=t%2Bx%3D%3D&token_type_hint=access_token&client_id={encoded}&client_secret={encoded}");
    let plain = "token=t%2Bx%3D%3D&token_type_hint=access_token";
    for (validator, authorization, body) in [
        (validator(), None, plain),
        (validator().basic(odd, odd), Some(basic(&format!("{encoded}:{encoded}"))), plain),
        (validator().post(odd, odd), None, post.as_str()),
        (validator().bearer("own"), Some("Bearer own".to_owned()), plain),
    ] {
        let network = network::answering(200, &good());
        assert_eq!(ask(&endpoint(validator.without_cache()), "t+x==", &network, NOW).status, 200);
        let request = &network.requests()[0];
        assert_eq!((request.method().as_str(), request.uri().to_string().as_str()), ("POST", ENDPOINT));
        let header = |name: &str| request.headers().get(name).map(|value| value.to_str().expect("ASCII"));
        assert_eq!(header("content-type"), Some("application/x-www-form-urlencoded"));
        assert_eq!(header("accept"), Some("application/json"));
        assert_eq!(header("authorization"), authorization.as_deref());
        assert_eq!(request.body(), body);
        let limits = network::limits(&network).expect("limits");
        assert_eq!((limits.time, limits.bytes), (Duration::from_secs(5), 64 * 1024));
    }
}

/// An answer is kept for a minute, a refusal for five seconds, and neither past the token's end.
#[test]
fn answers_are_kept_for_a_while() {
    let asked = |token: &str, claims: &Value, validator: Introspection, seconds: &[u64]| {
        let network = network::answering(200, claims);
        let endpoint = endpoint(validator);
        let statuses: Vec<_> =
            seconds.iter().map(|second| ask(&endpoint, token, &network, NOW + second).status).collect();
        (statuses, network.requests().len())
    };
    let (statuses, count) = asked("good", &good(), validator(), &[0, 59, 60, 61]);
    assert_eq!((statuses, count), (vec![200; 4], 2));

    let mut short = good();
    short["exp"] = json!(NOW + 10);
    let (statuses, count) = asked("short", &short, validator(), &[0, 9, 10, 69, 70]);
    assert_eq!((statuses, count), (vec![200, 200, 200, 200, 401], 4), "kept to its end; past it, asked each time");

    let mut refused = good();
    refused["active"] = json!(false);
    let (statuses, count) = asked("refused", &refused, validator(), &[0, 4, 5]);
    assert_eq!((statuses, count), (vec![401; 3], 2));

    assert_eq!(asked("off", &good(), validator().without_cache(), &[0, 0, 0]).1, 3, "off by one call");
    assert_eq!(asked("briefly", &good(), validator().kept_for(Duration::from_secs(2)), &[0, 1, 2]).1, 2);
}

/// What was said of one token, to one server, about one audience, is said of no other.
#[test]
fn what_is_kept_belongs_to_its_question() {
    let network = network::answering(200, &good());
    assert_eq!(ask(&endpoint(validator()), "one", &network, NOW).status, 200);
    for (token, other) in [
        ("two", validator()),
        ("one", Introspection::new("https://other.example/introspect").expect("a URL")),
        ("one", validator().audience("kb")),
    ] {
        let refusing = network::answering(200, &json!({ "active": false }));
        assert_eq!(ask(&endpoint(other), token, &refusing, NOW).status, 401, "{token}");
        assert_eq!(refusing.requests().len(), 1);
    }
    let elsewhere = ProtectedResource::at("https://other.example.com/mcp").expect("a URL");
    let elsewhere = Endpoint::new(server).resource(elsewhere).auth(validator()).without_rate_limit();
    assert_eq!(ask(&elsewhere, "one", &network, NOW).status, 401, "the token is for another server");
}

/// The audience can be another name of this server, or be waived, by name alone.
#[test]
fn the_audience_can_be_waived_by_name() {
    let with = |audience: Value| {
        let mut claims = good();
        claims["aud"] = audience;
        claims
    };
    for (validator, audience, status) in [
        (validator().audience("kb"), json!("kb"), 200),
        (validator().audience("kb"), json!(["x", "kb"]), 200),
        (validator().audience("kb"), json!(RESOURCE), 401),
        (validator().any_audience(), json!("https://other.example"), 200),
        (validator().any_audience(), json!(7), 401),
    ] {
        let network = network::answering(200, &with(audience.clone()));
        assert_eq!(ask(&endpoint(validator.without_cache()), "t", &network, NOW).status, status, "{audience}");
    }
    // Where no audience is compared with it, the server needs no URL.
    let network = network::answering(200, &good());
    let nameless =
        |validator: Introspection| Endpoint::new(server).auth(validator.without_cache()).without_rate_limit();
    assert_eq!(ask(&nameless(validator().any_audience()), "t", &network, NOW).status, 200);
    assert_eq!(ask(&nameless(validator()), "t", &network, NOW).status, 503);
}

/// Tokens go to HTTPS, or to the own machine.
#[test]
fn the_endpoint_is_secure() {
    for (url, passes) in [
        ("https://auth.example.com/introspect?x=y", true),
        ("http://localhost:3000/introspect", true),
        ("http://auth.example.com/introspect", false),
        ("https://user:secret@auth.example.com/introspect", false),
        ("", false),
    ] {
        let made = Introspection::new(url);
        assert_eq!(made.is_ok(), passes, "{url}");
        if let Err(ConfigError { variable, problem }) = made {
            assert_eq!(variable, "MCP_INTROSPECTION_ENDPOINT");
            assert!(!problem.contains("secret"), "{problem}");
        }
    }
}

/// An answer is for the client that asked: validators with other credentials, or at another endpoint, ask for themselves.
#[test]
fn answers_are_kept_for_each_client() {
    let network = network::answering(200, &good());
    let passes = |validator: Introspection| assert_eq!(ask(&endpoint(validator), "t", &network, NOW).status, 200);
    let other = || Introspection::new("https://other.example.com/introspect").expect("a URL");
    let clients: [&dyn Fn() -> Introspection; 9] = [
        &validator,
        &other,
        &|| validator().basic("kb", "one"),
        &|| validator().basic("kb", "two"),
        &|| validator().basic("other", "one"),
        &|| validator().post("kb", "one"),
        &|| validator().post("kbo", "ne"),
        &|| validator().bearer("one"),
        &|| validator().bearer("two"),
    ];
    for (index, client) in clients.iter().enumerate() {
        passes(client());
        assert_eq!(network.requests().len(), index + 1, "another client");
        passes(client());
        assert_eq!(network.requests().len(), index + 1, "the same client");
    }
    // A refusal to one client is no refusal to another.
    network::change(&network, |_| Ok(Fetched::new(200, r#"{"active":false}"#)));
    let refused = ask(&endpoint(validator().basic("stranger", "x")), "t", &network, NOW);
    assert_eq!(refused.status, 401);
    passes(validator().basic("kb", "one"));
}
