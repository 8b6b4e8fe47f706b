//! Token introspection: the request to the authorization server, its answers, and their cache.

use std::time::Duration;

use edge_mcp::auth::{Introspection, ProtectedResource};
use edge_mcp::host::{FetchError, Fetched};
use edge_mcp::testing::TestHost;
use edge_mcp::{ConfigError, Context, Endpoint, HandlerError, McpServer, Tool};
use serde_json::{Value, json};

use crate::claims::valid_claims;
use crate::issuer::{RESOURCE, basic, host_at};
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
    whoami.bearer(token).ask_on(endpoint, &host_at(network, second))
}

/// A token is active only if `active` is the JSON value `true`.
#[test]
fn a_token_is_active_only_if_active_is_true() {
    for (active, status) in [
        (json!(true), 200),
        (json!(false), 401),
        (json!("true"), 401),
        (json!("false"), 401),
        (json!(1), 401),
        (json!([true]), 401),
        (json!(null), 401),
    ] {
        let mut claims = valid_claims();
        claims["active"] = active.clone();
        let answer = ask(&endpoint(validator().without_cache()), "t", &network::answering(200, &claims), NOW);
        assert_eq!(answer.status, status, "{active}");
    }
}

/// If the authorization server gives no usable answer, the endpoint answers 503 with `Retry-After`. The answer has no internal details.
/// The cause is in the log.
#[test]
fn without_a_usable_answer_a_token_gets_a_503() {
    let failing = |error: FetchError| network::of(move |_| Err(error.clone()));
    let answering = |status: u16, body: &str| network::answering(status, body);
    let broken: Vec<(&str, TestHost)> = vec![
        ("down", failing(FetchError::Failed("connect ECONNREFUSED db-7.internal:5432".into()))),
        ("slow", failing(FetchError::TooSlow)),
        ("oversized", failing(FetchError::TooLarge)),
        ("redirecting", answering(302, "")),
        ("permanently redirecting", answering(308, &valid_claims().to_string())),
        ("of the same zone", answering(530, "error code: 1042")),
        ("failing", answering(500, &valid_claims().to_string())),
        ("with another status", answering(201, &valid_claims().to_string())),
        ("rejecting the credentials", answering(401, r#"{"error":"invalid_client"}"#)),
        ("rejecting the request", answering(400, r#"{"error":"invalid_request"}"#)),
        ("empty", answering(200, "")),
        ("not JSON", answering(200, "<html>db-7.internal:5432</html>")),
        ("truncated", answering(200, r#"{"active":true"#)),
        ("not an object", answering(200, "true")),
        ("an array", answering(200, "[true]")),
        ("without `active`", answering(200, "{}")),
        ("with two values of `active`", answering(200, r#"{"active":false,"active":true,"sub":"ada"}"#)),
        ("deep nesting", answering(200, &format!(r#"{{"active":true,"x":{}{}}}"#, "[".repeat(1000), "]".repeat(1000)))),
    ];
    for (fault, network) in broken {
        let host = host_at(&network, NOW);
        let whoami = legacy("tools/call", json!({ "name": "whoami" })).at(RESOURCE).bearer("s3cret");
        let answer = whoami.ask_on(&endpoint(validator()), &host);
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")), "{fault}");
        assert_eq!(answer.header("www-authenticate"), None, "{fault}: the token may be valid");
        assert_eq!(
            answer.message(),
            "Access tokens cannot be checked at the moment. Try again in a few seconds.",
            "{fault}"
        );
        let line = &host.log()[0];
        assert!(line["refused"].as_str().is_some_and(|why| why.starts_with("unavailable: ")), "{fault}: {line}");
        let names_zone = host.log_text().contains("its URL is on the zone of this Worker");
        assert_eq!(names_zone, fault == "of the same zone", "{fault}: {line}");
        assert!(!host.log_text().contains("s3cret"), "{fault}");
    }
}

/// Failures are not cached, so the token passes as soon as the authorization server answers again.
#[test]
fn failures_are_not_cached() {
    let network = network::of(|_| Err(FetchError::TooSlow));
    let endpoint = endpoint(validator());
    assert_eq!(ask(&endpoint, "outage", &network, NOW).status, 503);
    network::change(&network, |_| Ok(Fetched::new(200, valid_claims().to_string())));
    assert_eq!(ask(&endpoint, "outage", &network, NOW).status, 200);
}

/// If the authorization server does not support the type of the token, the token is not valid. This is not an outage.
#[test]
fn a_token_of_an_unsupported_type_is_not_valid() {
    let network = network::answering(400, r#"{"error":"unsupported_token_type"}"#);
    assert_eq!(ask(&endpoint(validator().without_cache()), "a.b.c", &network, NOW).status, 401);
}

/// The introspection request is a form in a POST, with the client credentials. It has a time limit and a size limit.
#[test]
fn the_introspection_request_is_a_form() {
    let special = "a:b%c+d e/ü";
    let encoded = "a%3Ab%25c%2Bd+e%2F%C3%BC";
    let post = format!("token=t%2Bx%3D%3D&token_type_hint=access_token&client_id={encoded}&client_secret={encoded}");
    let plain = "token=t%2Bx%3D%3D&token_type_hint=access_token";
    for (validator, authorization, body) in [
        (validator(), None, plain),
        (validator().basic(special, special), Some(basic(&format!("{encoded}:{encoded}"))), plain),
        (validator().post(special, special), None, post.as_str()),
        (validator().bearer("own"), Some("Bearer own".to_owned()), plain),
    ] {
        let network = network::answering(200, &valid_claims());
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

/// A positive answer is cached for 60 s, but not beyond the `exp` of the token. A negative answer is cached for 5 s.
#[test]
fn answers_are_cached_for_a_limited_time() {
    let statuses_and_requests = |token: &str, claims: &Value, validator: Introspection, seconds: &[u64]| {
        let network = network::answering(200, claims);
        let endpoint = endpoint(validator);
        let statuses: Vec<_> =
            seconds.iter().map(|second| ask(&endpoint, token, &network, NOW + second).status).collect();
        (statuses, network.requests().len())
    };
    let (statuses, count) = statuses_and_requests("good", &valid_claims(), validator(), &[0, 59, 60, 61]);
    assert_eq!((statuses, count), (vec![200; 4], 2));

    let mut short = valid_claims();
    short["exp"] = json!(NOW + 10);
    let (statuses, count) = statuses_and_requests("short", &short, validator(), &[0, 9, 10, 69, 70]);
    assert_eq!((statuses, count), (vec![200, 200, 200, 200, 401], 4), "cached only until `exp`");

    let mut refused = valid_claims();
    refused["active"] = json!(false);
    let (statuses, count) = statuses_and_requests("refused", &refused, validator(), &[0, 4, 5]);
    assert_eq!((statuses, count), (vec![401; 3], 2));

    let uncached = validator().without_cache();
    assert_eq!(statuses_and_requests("off", &valid_claims(), uncached, &[0, 0, 0]).1, 3);
    let brief = validator().cache_for(Duration::from_secs(2));
    assert_eq!(statuses_and_requests("brief", &valid_claims(), brief, &[0, 1, 2]).1, 2);
}

/// The cache of answers is bounded by its bytes. The answers that expire soonest are evicted.
#[test]
fn the_bytes_of_cached_answers_are_bounded() {
    const MOST: usize = 8 << 20;
    let mut long = valid_claims();
    long["groups"] = json!(vec![1; 30_000]);
    let per_answer = long.to_string().len();
    let network = network::answering(200, &long);
    let endpoint = endpoint(validator());
    let count = u64::try_from(MOST / per_answer + 10).expect("a few hundred");
    for nth in 0..count {
        assert_eq!(ask(&endpoint, &format!("long-{nth}"), &network, NOW + nth / 10).status, 200);
    }
    let requests = |token: u64| {
        let before = network.requests().len();
        assert_eq!(ask(&endpoint, &format!("long-{token}"), &network, NOW + count / 10).status, 200);
        network.requests().len() - before
    };
    assert_eq!((requests(count - 1), requests(0)), (0, 1));
}

/// A cached answer has all members of the first one.
#[test]
fn a_cached_answer_has_all_claims() {
    async fn all(cx: Context) -> Result<String, HandlerError> {
        Ok(format!("{:?}", cx.caller()?))
    }
    let mut claims = valid_claims();
    claims["deep"] = json!({ "a": [1.5, -1, 18_446_744_073_709_551_615_u64, null, { "b": "\u{e9}\n" }] });
    claims["client_id"] = json!("cli");
    let network = network::answering(200, &claims);
    let resource = ProtectedResource::at(RESOURCE).expect("a URL");
    let endpoint =
        Endpoint::new(|_| McpServer::builder("s", "1").tool(Tool::new("all", "Shows the caller.", all)).build());
    let endpoint = endpoint.resource(resource).auth(validator()).without_rate_limit();
    let [first, cached] = [0, 1].map(|second| {
        let call = legacy("tools/call", json!({ "name": "all" })).at(RESOURCE).bearer("whole");
        call.ask_on(&endpoint, &host_at(&network, NOW + second)).tool_text().0.to_owned()
    });
    assert_eq!((network.requests().len(), &first), (1, &cached));
    assert!(first.contains("18446744073709551615") && first.contains("cli"), "{first}");
}

/// A cached answer is used only for the same token, introspection endpoint and audience.
#[test]
fn a_cached_answer_is_used_only_for_the_same_token_endpoint_and_audience() {
    let network = network::answering(200, &valid_claims());
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

/// `audience` sets an audience other than the URL of the server. `any_audience` accepts every audience.
#[test]
fn the_audience_can_be_another_name_or_any() {
    let with = |audience: Value| {
        let mut claims = valid_claims();
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
    // If the audience is not compared with the URL of the server, the server needs no URL.
    let network = network::answering(200, &valid_claims());
    let nameless =
        |validator: Introspection| Endpoint::new(server).auth(validator.without_cache()).without_rate_limit();
    assert_eq!(ask(&nameless(validator().any_audience()), "t", &network, NOW).status, 200);
    assert_eq!(ask(&nameless(validator()), "t", &network, NOW).status, 503);
}

/// The URL of the introspection endpoint must use HTTPS or be on localhost. It must not have credentials.
#[test]
fn the_introspection_endpoint_must_be_secure() {
    for (url, passes) in [
        ("https://auth.example.com/introspect?x=y", true),
        ("http://localhost:3000/introspect", true),
        ("http://auth.example.com/introspect", false),
        ("https://user:secret@auth.example.com/introspect", false),
        ("", false),
    ] {
        let made = Introspection::new(url);
        assert_eq!(made.is_ok(), passes, "{url}");
        if let Err(ConfigError { variable, problem, .. }) = made {
            assert_eq!(variable, "MCP_INTROSPECTION_ENDPOINT");
            assert!(!problem.contains("secret"), "{problem}");
        }
    }
}

/// An answer is valid only for the client that asked. Validators with other credentials or another endpoint do not share answers.
#[test]
fn answers_are_cached_per_client() {
    let network = network::answering(200, &valid_claims());
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
    // A negative answer to one client does not affect the others.
    network::change(&network, |_| Ok(Fetched::new(200, r#"{"active":false}"#)));
    let refused = ask(&endpoint(validator().basic("stranger", "x")), "t", &network, NOW);
    assert_eq!(refused.status, 401);
    passes(validator().basic("kb", "one"));
}
