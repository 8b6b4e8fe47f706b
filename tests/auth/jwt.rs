//! JWT access tokens: signatures, headers, and the keys of the issuer.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::ready;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::Endpoint;
use edge_mcp::auth::{Algorithm, Jwt, ProtectedResource};
use edge_mcp::host::{FetchError, Fetched, Host, RateLimit};
use edge_mcp::testing::{self, Client, TestHost};
use futures::future::{join_all, select};
use serde_json::{Value, json};

use crate::claims::valid_claims;
use crate::issuer::{ISSUER, KEYS, RESOURCE, encoded, host_at, token};
use crate::network;
use crate::support::{Answer, NOW, legacy, server};

const JWKS: &str = "https://auth.example.com/jwks";

fn validator() -> Jwt {
    Jwt::new(JWKS, ISSUER).expect("a URL")
}

fn endpoint(validator: Jwt) -> Endpoint {
    let resource = ProtectedResource::at(RESOURCE).expect("a URL");
    Endpoint::new(server).resource(resource).auth(validator).without_rate_limit()
}

fn published(keys: &[Value]) -> TestHost {
    network::answering(200, &json!({ "keys": keys }))
}

fn ask(endpoint: &Endpoint, token: &str, network: &TestHost, second: u64) -> Answer {
    let whoami = legacy("tools/call", json!({ "name": "whoami" })).at(RESOURCE);
    whoami.bearer(token).ask_on(endpoint, &host_at(network, second))
}

fn header(algorithm: &str) -> Value {
    json!({ "alg": algorithm, "kid": algorithm, "typ": "at+jwt" })
}

/// Returns whether a validator without cached keys accepts the token.
fn passes(token: &str) -> bool {
    // Keys are cached per thread and URL. Each test has its own thread, so no keys are cached for a new URL.
    let validator = Jwt::new(&format!("{JWKS}?{}", token.len()), ISSUER).expect("a URL");
    match ask(&endpoint(validator), token, &published(&KEYS.public()), NOW).status {
        200 => true,
        401 => false,
        other => panic!("{other}"),
    }
}

#[test]
fn valid_signatures_pass_and_forged_tokens_are_rejected() {
    for algorithm in ["RS256", "ES256", "EdDSA"] {
        let good_token = token(&header(algorithm), &valid_claims());
        assert!(passes(&good_token), "{algorithm}");
        let (message, signature) = good_token.rsplit_once('.').expect("three parts");
        let other_claims =
            message.split_once('.').expect("two parts").0.to_owned() + "." + &encoded(valid_claims().to_string() + " ");
        for forged in [
            format!("{other_claims}.{signature}"),
            format!("{message}."),
            format!("{message}.{}", encoded(vec![0; 64])),
            format!("{message}.{}", encoded(vec![0; 256])),
            format!("{message}.{signature}A"),
            message.to_owned(),
            format!("{good_token}.x"),
        ] {
            assert!(!passes(&forged), "{algorithm} {forged}");
        }
    }
}

/// The configuration and the key determine the algorithm. A token cannot choose `none`, HMAC with a public key, or the algorithm of
/// another type of key.
#[test]
fn the_token_does_not_choose_the_algorithm() {
    let signed_by = |claimed: &str, algorithm: &str, kid: &str| {
        let head = json!({ "alg": claimed, "kid": kid, "typ": "at+jwt" });
        let message = format!("{}.{}", encoded(head.to_string()), encoded(valid_claims().to_string()));
        format!("{message}.{}", encoded(KEYS.sign(algorithm, &message)))
    };
    assert!(passes(&signed_by("ES256", "ES256", "ES256")));
    for (claimed, algorithm, kid) in [
        ("none", "ES256", "ES256"),
        ("HS256", "ES256", "ES256"),
        ("es256", "ES256", "ES256"),
        ("RS256", "ES256", "ES256"),
        ("ES256", "ES256", "RS256"),
        ("ES256", "RS256", "ES256"),
        ("RS512", "RS256", "RS256"),
        ("", "ES256", "ES256"),
    ] {
        assert!(!passes(&signed_by(claimed, algorithm, kid)), "{claimed} {algorithm} {kid}");
    }
    let only = endpoint(validator().algorithms([Algorithm::Rs256]));
    for (algorithm, status) in [("RS256", 200), ("ES256", 401), ("EdDSA", 401)] {
        let signed = token(&header(algorithm), &valid_claims());
        assert_eq!(ask(&only, &signed, &published(&KEYS.public()), NOW).status, status);
    }
}

/// `typ` distinguishes access tokens from other tokens of the same issuer. A token with `crit` is rejected, because the validator
/// supports no critical header.
#[test]
fn the_header_of_a_token_is_checked() {
    for (change, value, status) in [
        ("typ", json!("AT+JWT"), 200),
        ("typ", json!("application/at+jwt"), 200),
        ("typ", json!("JWT"), 401),
        ("typ", json!("id+jwt"), 401),
        ("typ", json!(7), 401),
        ("typ", json!(null), 401),
        ("typ", json!("application/"), 401),
        ("typ", json!("Application.at+jwt"), 401),
        ("typ", json!("applicatio_/at+jwt"), 401),
        ("kid", json!("unknown"), 401),
        ("kid", json!(7), 401),
        ("kid", json!(null), 401),
        ("crit", json!(["exp"]), 401),
        ("jku", json!("https://evil.example/jwks"), 200),
        ("jwk", KEYS.public()[1].clone(), 200),
    ] {
        let mut head = header("ES256");
        head[change] = value.clone();
        let network = published(&KEYS.public());
        let answer = ask(&endpoint(validator()), &token(&head, &valid_claims()), &network, NOW);
        assert_eq!(answer.status, status, "{change} {value}");
        for request in network.requests() {
            assert_eq!(request.uri(), JWKS, "keys are never fetched from a URL in the token");
        }
    }
    let mut head = header("ES256");
    head["typ"] = json!("JWT");
    let lenient = endpoint(validator().types(["JWT"]));
    assert_eq!(ask(&lenient, &token(&head, &valid_claims()), &published(&KEYS.public()), NOW).status, 200);
    head.as_object_mut().expect("an object").remove("kid");
    let without_kid = token(&head, &valid_claims());
    assert_eq!(ask(&lenient, &without_kid, &published(&KEYS.public()), NOW).status, 200);
}

/// `audience` sets an audience other than the URL, so that the server needs no URL. The fetch of the keys has a time limit and a size
/// limit.
#[test]
fn the_audience_can_differ_from_the_url() {
    let mut claims = valid_claims();
    claims["aud"] = json!("kb");
    let named = || Endpoint::new(server).auth(validator().audience("kb")).without_rate_limit();
    let network = published(&KEYS.public());
    assert_eq!(ask(&named(), &token(&header("ES256"), &claims), &network, NOW).status, 200);
    assert_eq!(ask(&named(), &token(&header("ES256"), &valid_claims()), &network, NOW).status, 401);
    let limits = network::limits(&network).expect("limits");
    assert_eq!((limits.time.as_secs(), limits.bytes), (5, 64 * 1024));
    let nameless = Endpoint::new(server).auth(validator()).without_rate_limit();
    let signed = token(&header("ES256"), &valid_claims());
    assert_eq!(ask(&nameless, &signed, &network, NOW).status, 503, "MCP_RESOURCE is not set");
}

#[test]
fn malformed_tokens_are_rejected() {
    let object = encoded("{}");
    let twice = encoded(r#"{"alg":"ES256","alg":"ES256","typ":"at+jwt"}"#);
    let deep = encoded(format!(r#"{{"alg":{}{}}}"#, "[".repeat(1000), "]".repeat(1000)));
    for text in [
        "x".to_owned(),
        "..".to_owned(),
        format!("{object}.{object}.{object}"),
        format!("{object}.{object}"),
        format!("{twice}.{object}.{object}"),
        format!("{deep}.{object}.{object}"),
        format!("{}.{object}.{object}", encoded([0xff])),
        "e".repeat(10_000),
        format!("{}.{object}.{object}", "e".repeat(10_000)),
    ] {
        assert!(!passes(&text), "{text}");
    }
    let message = format!("{}.{}", encoded(header("ES256").to_string()), encoded("[]"));
    assert!(!passes(&format!("{message}.{}", encoded(KEYS.sign("ES256", &message)))), "claims that are not an object");
}

/// The validator ignores keys of other types, keys for other uses, malformed keys, and RSA keys that are too short.
#[test]
fn unusable_keys_are_ignored() {
    let [rsa, elliptic, edwards] = [0, 1, 2].map(|index| KEYS.public()[index].clone());
    let with = |key: &Value, name: &str, value: Value| {
        let mut key = key.clone();
        key[name] = value;
        key
    };
    let short = encoded([0xff; 255]);
    for (algorithm, key, status) in [
        ("RS256", rsa.clone(), 200),
        ("RS256", with(&rsa, "use", json!("enc")), 401),
        ("RS256", with(&rsa, "alg", json!("RS512")), 401),
        ("RS256", with(&rsa, "alg", json!("PS256")), 401),
        ("RS256", with(&rsa, "key_ops", json!(["sign"])), 401),
        ("RS256", with(&rsa, "n", json!(short)), 401),
        ("RS256", with(&rsa, "n", json!(format!("AAAA{}", rsa["n"].as_str().expect("n")))), 401),
        ("RS256", with(&rsa, "n", json!(7)), 401),
        ("RS256", with(&rsa, "e", json!("")), 401),
        ("RS256", with(&rsa, "kty", json!("oct")), 401),
        ("ES256", elliptic.clone(), 200),
        ("ES256", with(&elliptic, "crv", json!("P-384")), 401),
        ("ES256", with(&elliptic, "x", json!("AA")), 401),
        ("ES256", with(&elliptic, "y", elliptic["x"].clone()), 401),
        ("EdDSA", edwards.clone(), 200),
        ("EdDSA", with(&edwards, "alg", json!("Ed25519")), 200),
        ("EdDSA", with(&edwards, "crv", json!("X25519")), 401),
    ] {
        // Each case has its own URL, and so no cached keys.
        let url = format!("{JWKS}?{algorithm}{}", encoded(key.to_string()));
        let validator = Jwt::new(&url, ISSUER).expect("a URL");
        let signed = token(&header(algorithm), &valid_claims());
        let answer = ask(&endpoint(validator), &signed, &published(&[json!(7), key.clone()]), NOW);
        assert_eq!(answer.status, status, "{key}");
    }
}

/// Keys are cached for 10 minutes. For an unknown `kid`, they are fetched again at most once a minute.
#[test]
fn keys_are_cached() {
    let network = published(&KEYS.public());
    let endpoint = endpoint(validator());
    let good_token = token(&header("ES256"), &valid_claims());
    let mut head = header("ES256");
    head["kid"] = json!("new");
    let new_token = token(&head, &valid_claims());
    for (second, token, status, count) in [
        (0, &good_token, 200, 1),
        (50, &good_token, 200, 1),
        (59, &new_token, 401, 1),
        (60, &new_token, 401, 2),
        (61, &new_token, 401, 2),
        (119, &new_token, 401, 2),
    ] {
        assert_eq!(ask(&endpoint, token, &network, NOW + second).status, status, "at {second} s");
        assert_eq!(network.requests().len(), count, "at {second} s");
    }
    let mut renamed = KEYS.public()[1].clone();
    renamed["kid"] = json!("new");
    network::change(&network, move |_| Ok(Fetched::new(200, json!({ "keys": [renamed] }).to_string())));
    assert_eq!(ask(&endpoint, &new_token, &network, NOW + 120).status, 200, "another key has replaced the old one");
    assert_eq!(ask(&endpoint, &good_token, &network, NOW + 121).status, 401, "the old key is not published any more");
    let mut later = valid_claims();
    later["exp"] = json!(NOW + 3600);
    let later = token(&head, &later);
    assert_eq!((ask(&endpoint, &later, &network, NOW + 719).status, network.requests().len()), (200, 3));
    assert_eq!(
        (ask(&endpoint, &later, &network, NOW + 720).status, network.requests().len()),
        (200, 4),
        "10 minutes after the last fetch"
    );
}

/// Returns a host like [`host_at`] that counts the checks of signatures.
fn counting(network: &TestHost, second: u64) -> (TestHost, Rc<Cell<usize>>) {
    let checks = Rc::<Cell<usize>>::default();
    let (counted, verifying) = (checks.clone(), host_at(network, second));
    let host = verifying.clone().clock(second * 1000).verify(move |_, _, _| {
        counted.set(counted.get() + 1);
        ready(Ok(false))
    });
    (host, checks)
}

/// A token that is refused by its claims alone costs no check of a signature, and no fetch of keys.
#[test]
fn claims_are_checked_before_the_signature() {
    for (name, value) in [
        ("exp", json!(NOW - 120)),
        ("iss", json!("https://other.example")),
        ("aud", json!("https://other.example/mcp")),
        ("sub", json!(7)),
    ] {
        let mut claims = valid_claims();
        claims[name] = value;
        let network = published(&KEYS.public());
        let (host, checks) = counting(&network, NOW);
        let ask = legacy("ping", json!({})).at(RESOURCE).bearer(&token(&header("ES256"), &claims));
        assert_eq!(ask.ask_on(&endpoint(validator()), &host).status, 401, "{name}");
        assert_eq!((checks.get(), network.requests().len()), (0, 0), "{name}");
    }
}

/// An address that exceeds its rate limit with forged tokens causes no further checks of signatures until the period ends. Other addresses
/// are not affected.
#[test]
fn signatures_are_not_checked_beyond_the_rate_limit() {
    let (network, seen) = (published(&KEYS.public()), Rc::<RefCell<HashMap<String, usize>>>::default());
    let limit = RateLimit::new(Duration::from_mins(1), move |key| {
        let mut seen = seen.borrow_mut();
        let count = seen.entry(key).or_default();
        *count += 1;
        ready(Ok(*count <= 3))
    });
    let resource = ProtectedResource::at(RESOURCE).expect("a URL");
    let endpoint = Endpoint::new(server).resource(resource).auth(validator()).rate_limit(limit);
    let (host, checks) = counting(&network, NOW);
    let ask = |address: &str| {
        let forged = token(&header("ES256"), &valid_claims());
        legacy("ping", json!({})).at(RESOURCE).address(address).bearer(&forged).ask_on(&endpoint, &host).status
    };
    let statuses: Vec<_> = (0..10).map(|_| ask("192.0.2.1")).collect();
    assert_eq!(statuses, [401, 401, 401, 429, 429, 429, 429, 429, 429, 429]);
    assert_eq!(checks.get(), 4, "the fourth check finds that the address has exceeded its limit");
    assert_eq!((ask("192.0.2.2"), checks.get()), (401, 5), "another address");
    host.advance(Duration::from_secs(59));
    assert_eq!((ask("192.0.2.1"), checks.get()), (429, 5));
    host.advance(Duration::from_secs(1));
    assert_eq!((ask("192.0.2.1"), checks.get()), (429, 6), "one check in each further period");
}

/// While the issuer is down, its last keys are used for another hour. A token of an unknown key gets a 503. As soon as the issuer answers,
/// only the keys that it publishes are used.
#[test]
fn expired_keys_are_used_while_their_issuer_is_down() {
    let mut claims = valid_claims();
    claims["exp"] = json!(NOW + 9000);
    let known = token(&header("ES256"), &claims);
    let mut unnamed = header("ES256");
    unnamed.as_object_mut().expect("an object").remove("kid");
    let unnamed = token(&unnamed, &claims);
    let mut head = header("ES256");
    head["kid"] = json!("new");
    let unknown = token(&head, &claims);
    let network = published(&KEYS.public());
    let endpoint = endpoint(validator());
    let ask = |token: &str, second: u64| ask(&endpoint, token, &network, NOW + second).status;
    assert_eq!(ask(&known, 0), 200);
    network::change(&network, |_| Err(FetchError::TooSlow));
    for (second, is_usable) in [(600, true), (602, true), (4199, true), (4200, false)] {
        let expected = if is_usable { 200 } else { 503 };
        assert_eq!((ask(&known, second), ask(&unnamed, second)), (expected, expected), "at {second} s");
        assert_eq!(ask(&unknown, second), 503, "at {second} s");
    }
    network::change(&network, |_| Ok(Fetched::new(200, json!({ "keys": KEYS.public() }).to_string())));
    assert_eq!(ask(&known, 4300), 200);
    network::change(&network, |_| Ok(Fetched::new(200, json!({ "keys": [KEYS.public()[0]] }).to_string())));
    assert_eq!(ask(&known, 4900), 401, "the key is not published any more");
}

/// If the keys cannot be fetched, the endpoint answers 503. It does not answer 401, because the token may be valid.
#[test]
fn without_the_keys_of_the_issuer_a_token_gets_a_503() {
    let good_token = token(&header("ES256"), &valid_claims());
    let network = network::of(|_| Err(FetchError::TooSlow));
    let endpoint = endpoint(validator());
    let mut second = NOW;
    for (status, body) in [(500, "{}"), (302, ""), (200, ""), (200, "[]"), (200, "{}"), (200, r#"{"keys":{}}"#)] {
        let answer = ask(&endpoint, &good_token, &network, second);
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")), "{status} {body}");
        network::change(&network, move |_| Ok(Fetched::new(status, body)));
        second += 5;
    }
    network::change(&network, |_| Ok(Fetched::new(530, "error code: 1042\n")));
    let host = host_at(&network, second);
    let whoami = legacy("tools/call", json!({ "name": "whoami" })).at(RESOURCE).bearer(&good_token);
    assert_eq!(whoami.ask_on(&endpoint, &host).status, 503);
    assert!(host.log_text().contains("its URL is on the zone of this Worker"), "{}", host.log_text());
    second += 5;
    assert_eq!(ask(&endpoint, "x.y.z", &network, second).status, 401, "a malformed token is rejected without a key");
    network::change(&network, |_| Ok(Fetched::new(200, json!({ "keys": KEYS.public() }).to_string())));
    assert_eq!(ask(&endpoint, &good_token, &network, second).status, 200, "the outage is over");
}

/// While the keys cannot be fetched, the validator tries again at most once in 5 s, for any number of tokens. Meanwhile, a token that
/// may be valid gets a 503. Tokens that a cached key has signed pass.
#[test]
fn a_failed_fetch_is_not_repeated_for_each_token() {
    let network = network::of(|_| Err(FetchError::TooSlow));
    let endpoint = endpoint(validator());
    let good_token = token(&header("ES256"), &valid_claims());
    let unknown = |nth: u64| {
        let mut head = header("ES256");
        head["kid"] = json!(format!("unknown-{nth}"));
        token(&head, &valid_claims())
    };
    // No keys are cached yet.
    for (second, count) in [(0, 1), (0, 1), (4, 1), (5, 2), (9, 2)] {
        let answer = ask(&endpoint, &good_token, &network, NOW + second);
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")), "at {second} s");
        assert_eq!(network.requests().len(), count, "at {second} s");
    }
    network::change(&network, |_| Ok(Fetched::new(200, json!({ "keys": KEYS.public() }).to_string())));
    assert_eq!((ask(&endpoint, &good_token, &network, NOW + 10).status, network.requests().len()), (200, 3));
    // Keys are cached, and tokens name an unknown key.
    network::change(&network, |_| Err(FetchError::TooSlow));
    for (second, count) in [(69, 3), (70, 4), (71, 4), (74, 4), (75, 5), (79, 5)] {
        let status = if second < 70 { 401 } else { 503 };
        for nth in 0..3 {
            assert_eq!(ask(&endpoint, &unknown(nth), &network, NOW + second).status, status, "at {second} s");
        }
        assert_eq!(network.requests().len(), count, "at {second} s");
        assert_eq!(ask(&endpoint, &good_token, &network, NOW + second).status, 200, "at {second} s");
    }
}

/// An issuer may replace keys that have no `kid`. If no cached key has signed a token without `kid`, the keys are fetched again, at most
/// once a minute.
#[test]
fn keys_without_kid_are_fetched_again_if_none_has_signed_the_token() {
    let unnamed = |index: usize| {
        let mut key = KEYS.public()[index].clone();
        key.as_object_mut().expect("an object").remove("kid");
        key
    };
    let signed = |algorithm: &str| token(&json!({ "alg": algorithm, "typ": "at+jwt" }), &valid_claims());
    let (old, new) = (signed("ES256"), signed("EdDSA"));
    let network = published(&[unnamed(1)]);
    let endpoint = endpoint(validator());
    assert_eq!((ask(&endpoint, &old, &network, NOW).status, network.requests().len()), (200, 1));
    let keys = json!({ "keys": [unnamed(2)] }).to_string();
    network::change(&network, move |_| Ok(Fetched::new(200, keys.clone())));
    for (second, token, status, count) in [
        (59, &new, 401, 1),
        (60, &new, 200, 2),
        (61, &new, 200, 2),
        (62, &old, 401, 2),
        (119, &old, 401, 2),
        (120, &old, 401, 3),
        (121, &old, 401, 3),
    ] {
        assert_eq!(ask(&endpoint, token, &network, NOW + second).status, status, "at {second} s");
        assert_eq!(network.requests().len(), count, "at {second} s");
    }
    // A forged token without `kid` causes a fetch. With the `kid` of a cached key, it is rejected without a fetch.
    let named = json!({ "keys": KEYS.public() }).to_string();
    network::change(&network, move |_| Ok(Fetched::new(200, named.clone())));
    let (message, _) = old.rsplit_once('.').expect("three parts");
    let forged = format!("{message}.{}", encoded([0; 64]));
    assert_eq!(
        (ask(&endpoint, &forged, &network, NOW + 200).status, network.requests().len()),
        (401, 4),
        "without `kid`"
    );
    let good_token = token(&header("ES256"), &valid_claims());
    let (message, _) = good_token.rsplit_once('.').expect("three parts");
    let forged = format!("{message}.{}", encoded([0; 64]));
    assert_eq!((ask(&endpoint, &forged, &network, NOW + 280).status, network.requests().len()), (401, 4), "with `kid`");
}

/// A request that needs a fetch of the keys is counted per address before the fetch. It is counted even if the fetch is not repeated
/// after a failure.
#[test]
fn a_request_that_needs_new_keys_is_counted_per_address() {
    let network = network::of(|_| Err(FetchError::TooSlow));
    let resource = ProtectedResource::at(RESOURCE).expect("a URL");
    let seen = Cell::new(0);
    let limit = RateLimit::new(Duration::from_mins(1), move |_| {
        seen.set(seen.get() + 1);
        ready(Ok(seen.get() <= 2))
    });
    let endpoint = Endpoint::new(server).resource(resource).auth(validator()).rate_limit(limit);
    let good_token = token(&header("ES256"), &valid_claims());
    let statuses = [(); 3].map(|()| ask(&endpoint, &good_token, &network, NOW).status);
    assert_eq!((statuses, network.requests().len()), ([503, 503, 429], 1));
}

/// Requests that need the keys at the same time cause one fetch, and get its outcome, also if the request that began it has ended.
#[test]
fn requests_at_the_same_time_share_a_fetch_of_the_keys() {
    let known = token(&header("ES256"), &valid_claims());
    let unknown = token(&json!({ "alg": "ES256", "kid": "new", "typ": "at+jwt" }), &valid_claims());
    for (nth, first_is_dropped) in [(0, false), (1, true)] {
        let clock = host_at(&TestHost::new(), NOW);
        let timer = clock.clone();
        let host = clock.fetch(move |_, _| {
            let timer = timer.clone();
            async move {
                timer.sleep(Duration::from_secs(1)).await;
                Ok(Fetched::new(200, json!({ "keys": KEYS.public() }).to_string()))
            }
        });
        // Each case has a URL of its own, because the keys are cached by URL.
        let endpoint = endpoint(Jwt::new(&format!("{JWKS}?{nth}"), ISSUER).expect("a URL"));
        let ask = async |token: &str| {
            let client = Client::new(&endpoint).host(&host).token(token);
            client.list("tools").await.status()
        };
        let statuses = testing::run(async {
            if first_is_dropped {
                let sent = pin!(ask(&known));
                select(sent, host.sleep(Duration::from_millis(10))).await;
            }
            join_all((0..50).map(|nth| ask(if nth % 2 == 0 { &known } else { &unknown }))).await
        });
        let expected: Vec<_> = (0..50).map(|nth| if nth % 2 == 0 { 200 } else { 401 }).collect();
        assert_eq!((statuses, host.requests().len()), (expected, 1));
    }
}

/// `Ed25519` is the name of EdDSA with the curve Ed25519 (RFC 9864). Tokens and keys may use either name.
#[test]
fn ed25519_is_another_name_for_eddsa() {
    for named in [json!(null), json!("EdDSA"), json!("Ed25519")] {
        for algorithm in ["EdDSA", "Ed25519"] {
            let mut key = KEYS.public()[2].clone();
            if !named.is_null() {
                key["alg"] = named.clone();
            }
            let head = json!({ "alg": algorithm, "kid": "EdDSA", "typ": "at+jwt" });
            let message = format!("{}.{}", encoded(head.to_string()), encoded(valid_claims().to_string()));
            let signature = encoded(KEYS.sign("EdDSA", &message));
            let ask = |validator: Jwt, signature: &str| {
                ask(&endpoint(validator), &format!("{message}.{signature}"), &published(&[key.clone()]), NOW).status
            };
            let named = named.as_str().unwrap_or_default();
            let at = |name: &str| Jwt::new(&format!("{JWKS}?{name}{algorithm}{named}"), ISSUER).expect("a URL");
            assert_eq!(ask(at("all"), &signature), 200, "{algorithm} {named}");
            assert_eq!(ask(at("one").algorithms([Algorithm::EdDsa]), &signature), 200, "{algorithm} {named}");
            assert_eq!(ask(at("other").algorithms([Algorithm::Es256]), &signature), 401, "{algorithm} {named}");
            assert_eq!(ask(at("forged"), &encoded([0; 64])), 401, "{algorithm} {named}");
        }
    }
    // A token with `Ed25519` cannot use a key for another algorithm.
    let head = json!({ "alg": "Ed25519", "kid": "ES256", "typ": "at+jwt" });
    let message = format!("{}.{}", encoded(head.to_string()), encoded(valid_claims().to_string()));
    assert!(!passes(&format!("{message}.{}", encoded(KEYS.sign("ES256", &message)))));
}
