//! The settings that an endpoint reads from the environment.

use std::cell::RefCell;

use edge_mcp::auth::{PresentedToken, Principal, ProtectedResource, TokenRefusal};
use edge_mcp::host::Environment;
use edge_mcp::http::AllowedOrigins;
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{ConfigError, Endpoint};
use serde_json::json;

use crate::claims::valid_claims;
use crate::issuer::{ISSUER, KEYS, RESOURCE, basic, host_at, token};
use crate::network;
use crate::support::{Answer, NOW, legacy, post, server};

const TOKENS: &str = r#"[{"token":"good","subject":"ada","scopes":[]}]"#;

fn endpoint(variables: &[(&str, &str)]) -> Endpoint {
    Endpoint::new(server).without_rate_limit().configured(&testing::variables(variables))
}

fn ping(variables: &[(&str, &str)]) -> Answer {
    legacy("ping", json!({})).at(RESOURCE).bearer("good").ask_at(&endpoint(variables))
}

/// Names and values of environment variables.
type Variables<'a> = &'a [(&'a str, &'a str)];

const STATIC: [(&str, &str); 2] = [("MCP_AUTH", "static"), ("MCP_STATIC_TOKENS", TOKENS)];
const INTROSPECTION: [(&str, &str); 5] = [
    ("MCP_AUTH", "introspection"),
    ("MCP_RESOURCE", RESOURCE),
    ("MCP_INTROSPECTION_ENDPOINT", "https://auth.example.com/introspect"),
    ("MCP_INTROSPECTION_CLIENT_ID", "kb"),
    ("MCP_INTROSPECTION_CLIENT_SECRET", "s3cret"),
];
const JWT: [(&str, &str); 4] = [
    ("MCP_AUTH", "jwt"),
    ("MCP_RESOURCE", RESOURCE),
    ("MCP_JWKS_URL", "https://auth.example.com/jwks"),
    ("MCP_ISSUER", ISSUER),
];

/// Returns `variables` with `changes`. A later value replaces an earlier value of the same name. An empty value counts as not set.
fn with<'a>(variables: &[(&'a str, &'a str)], changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    variables.iter().chain(changes).copied().collect()
}

/// With a wrong variable, the endpoint answers 503. The answer names the variable. Neither the answer nor the log quotes the value.
#[test]
fn a_wrong_variable_is_named() {
    let table: Vec<(Variables, &str, &[&str])> = vec![
        (&STATIC, "MCP_AUTH", &["", "s3cret", "Static", "static,none", "none,none", "s3cret jwt"]),
        (&STATIC, "MCP_STATIC_TOKENS", &["", "s3cret", "[]", r#"[{"token":"s3cret"}]"#]),
        (&STATIC, "MCP_SERVERLESS", &["false", "s3cret"]),
        (&STATIC, "MCP_RESOURCE", &["s3cret", "http://kb.example.com/mcp", "https://kb.example.com/?s3cret"]),
        (&STATIC, "MCP_AUTHORIZATION_SERVERS", &["s3cret", "https://a.example, http://s3cret.example"]),
        (&STATIC, "MCP_SCOPES", &["offline_access", "s3cret\"", "kb:read \u{e9}"]),
        (&STATIC, "MCP_ALLOWED_ORIGINS", &["*", "https://*.s3cret.example", "https://s3cret.example/path", "s3cret/"]),
        (&STATIC, "MCP_ALLOW_PUBLIC", &["true", "s3cret", "YES"]),
        (&STATIC, "MCP_PAGE", &["yes", "s3cret", "OFF", "false"]),
        (&INTROSPECTION, "MCP_RESOURCE", &[""]),
        (&INTROSPECTION, "MCP_INTROSPECTION_ENDPOINT", &["", "http://s3cret.example/", "s3cret"]),
        (&INTROSPECTION, "MCP_INTROSPECTION_CLIENT_ID", &[""]),
        (&INTROSPECTION, "MCP_INTROSPECTION_CLIENT_SECRET", &["", "s3cret\u{e9}", "s3cret\r\nX: y"]),
        (&INTROSPECTION, "MCP_INTROSPECTION_AUTH_METHOD", &["s3cret", "Basic"]),
        (&JWT, "MCP_RESOURCE", &[""]),
        (&JWT, "MCP_JWKS_URL", &["", "s3cret", "http://s3cret.example/jwks"]),
        (&JWT, "MCP_ISSUER", &[""]),
        (&JWT, "MCP_JWT_ALGORITHMS", &["none", "HS256", "RS256 s3cret", "rs256"]),
    ];
    for (variables, name, values) in table {
        for value in values {
            let (host, variables) = (TestHost::new(), with(variables, &[(name, value)]));
            let ask = legacy("ping", json!({})).at(RESOURCE).bearer("good");
            let answer = ask.ask_on(&endpoint(&variables), &host);
            assert_eq!(answer.refusal(), (503, -32603), "{name} {value:?}");
            let message = answer.message();
            assert!(message.contains(name) && !message.contains(".."), "{name} {value:?}: {message}");
            assert_eq!(host.log()[0]["event"], "misconfigured");
            assert!(!format!("{answer:?}{}", host.log_text()).contains("s3cret"), "{name} {value:?}");
        }
    }
}

/// An array or a table of a configuration file arrives as JSON. The error explains how to write a list.
#[test]
fn an_array_or_a_table_is_rejected() {
    let array = r#"["s3cret","kb:write"]"#;
    let names =
        ["MCP_AUTH", "MCP_RESOURCE", "MCP_AUTHORIZATION_SERVERS", "MCP_SCOPES", "MCP_ALLOWED_ORIGINS", "MCP_PAGE"];
    let of_static = names.map(|name| (&STATIC as Variables, name));
    for (variables, name) in of_static.into_iter().chain([(&JWT as Variables, "MCP_JWT_TYPES"), (&JWT, "MCP_ISSUER")]) {
        for value in [array, r#"{"s3cret":"kb:write"}"#] {
            let answer = ping(&with(variables, &[(name, value)]));
            let problem =
                "must be a string, not an array or a table: separate the values of a list by spaces or commas";
            assert_eq!(answer.refusal(), (503, -32603), "{name}");
            assert!(answer.message().contains(&format!("{name} {problem}")), "{name}: {}", answer.message());
            assert!(!answer.message().contains("s3cret"), "{name}");
        }
    }
}

/// The environment can configure each authentication method, alone or with another method.
#[test]
fn each_authentication_method_can_be_configured() {
    let network = network::of(|request| {
        let body = match request.uri().path() {
            "/jwks" => json!({ "keys": KEYS.public() }),
            _ => valid_claims(),
        };
        Ok(edge_mcp::host::Fetched::new(200, body.to_string()))
    });
    let signed = |kind: &str| token(&json!({ "alg": "ES256", "kid": "ES256", "typ": kind }), &valid_claims());
    let ask = |variables: &[(&str, &str)], token: &str| {
        let ask = legacy("ping", json!({})).at(RESOURCE).bearer(token);
        ask.ask_on(&endpoint(variables), &host_at(&network, NOW)).status
    };
    assert_eq!((ask(&STATIC, "good"), ask(&STATIC, "bad")), (200, 401));
    assert_eq!((ask(&JWT, &signed("at+jwt")), ask(&JWT, &signed("JWT"))), (200, 401));
    let lenient = with(&JWT, &[("MCP_JWT_TYPES", "JWT, at+jwt")]);
    assert_eq!((ask(&lenient, &signed("at+jwt")), ask(&lenient, &signed("JWT"))), (200, 200));
    let edwards = with(&JWT, &[("MCP_JWT_ALGORITHMS", "Ed25519")]);
    assert_eq!(ask(&edwards, &signed("at+jwt")), 401, "the algorithm is known, but the token has another one");
    let strict = with(&JWT, &[("MCP_JWT_ALGORITHMS", "RS256,EdDSA")]);
    assert_eq!(ask(&strict, &signed("at+jwt")), 401);
    assert_eq!(ask(&INTROSPECTION, "opaque"), 200);
    let both = with(&JWT, &[("MCP_AUTH", "static, jwt"), ("MCP_STATIC_TOKENS", TOKENS)]);
    assert_eq!((ask(&both, "good"), ask(&both, &signed("at+jwt")), ask(&both, "bad")), (200, 200, 401));
    let other_issuer = with(&INTROSPECTION, &[("MCP_ISSUER", "https://other.example")]);
    assert_eq!(ask(&other_issuer, "opaque"), 401);
}

/// The environment can configure each method by which this server authenticates to the introspection endpoint.
#[test]
fn each_client_authentication_method_can_be_configured() {
    for (method, authorization, in_form) in [
        ("", Some(basic("kb:s3cret")), false),
        ("basic", Some(basic("kb:s3cret")), false),
        ("post", None, true),
        ("bearer", Some("Bearer s3cret".to_owned()), false),
        ("none", None, false),
    ] {
        let network = network::answering(200, &valid_claims());
        let variables = with(&INTROSPECTION, &[("MCP_INTROSPECTION_AUTH_METHOD", method)]);
        let ask = legacy("ping", json!({})).at(RESOURCE).bearer(&format!("by-{method}"));
        assert_eq!(ask.ask_on(&endpoint(&variables), &host_at(&network, NOW)).status, 200, "{method}");
        let request = &network.requests()[0];
        let sent = request.headers().get("authorization").map(|value| value.to_str().expect("ASCII"));
        assert_eq!(
            (sent, request.body().contains("client_secret=s3cret")),
            (authorization.as_deref(), in_form),
            "{method}"
        );
    }
}

/// `MCP_AUTH=none` serves only localhost, unless `MCP_ALLOW_PUBLIC` is `yes`.
#[test]
fn none_serves_only_localhost_unless_the_public_is_allowed() {
    let none = [("MCP_AUTH", "none")];
    let local = legacy("ping", json!({})).ask_at(&endpoint(&none));
    assert_eq!((local.status, ping(&none).status), (200, 503));
    assert!(ping(&none).message().contains("MCP_ALLOW_PUBLIC"));
    assert_eq!(ping(&with(&none, &[("MCP_ALLOW_PUBLIC", "no")])).status, 503);
    assert_eq!(ping(&with(&none, &[("MCP_ALLOW_PUBLIC", "yes")])).status, 200);
}

/// A program can open the endpoint to the public although `MCP_AUTH` requires tokens. The log then has a warning.
#[test]
fn an_ignored_authentication_method_is_logged() {
    let answer = |variables: Variables<'static>, is_first: bool| {
        let (new, environment) = (Endpoint::new(server).without_rate_limit(), testing::variables(variables));
        let endpoint = if is_first {
            new.configured(&environment).open_to_the_public()
        } else {
            new.open_to_the_public().configured(&environment)
        };
        let host = TestHost::new();
        let answer = legacy("ping", json!({})).at(RESOURCE).ask_on(&endpoint, &host);
        (answer.status, host.log_text().contains("MCP_AUTH is ignored"))
    };
    let table: [(Variables<'static>, bool); 4] =
        [(&STATIC, true), (&[("MCP_AUTH", "jwt")], true), (&[("MCP_AUTH", "none")], false), (&[], false)];
    for (variables, is_logged) in table {
        for is_first in [true, false] {
            // The endpoint logs a warning once per thread.
            let answer = std::thread::spawn(move || answer(variables, is_first)).join().expect("an answer");
            assert_eq!(answer, (200, is_logged), "{variables:?}");
        }
    }
}

/// A function that returns the value of an environment variable.
type Lookup<'e> = &'e dyn Fn(&str) -> Option<String>;

/// A value that the program sets takes precedence over the environment, before and after `configured`. A wrong variable still closes the
/// endpoint.
#[test]
fn the_program_takes_precedence_in_any_order() {
    async fn own(presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
        if presented.token() == "own" { Ok(Principal::new("ada")) } else { Err(TokenRefusal::Invalid("other".into())) }
    }
    let new = || Endpoint::new(server).without_rate_limit();
    let ask = |endpoint: Endpoint, token: &str| legacy("ping", json!({})).at(RESOURCE).bearer(token).ask_at(&endpoint);
    let nothing = |_: &str| None;
    let of_static = |name: &str| STATIC.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    // An error in the authentication settings does not matter if the program sets a validator.
    let mistaken = |name: &str| (name == "MCP_AUTH").then(|| "jwt".to_owned());
    for environment in [&nothing as Lookup<'_>, &of_static, &mistaken] {
        let before = || new().auth(own).configured(&environment);
        let after = || new().configured(&environment).auth(own);
        for endpoint in [&before as &dyn Fn() -> Endpoint, &after] {
            let statuses = ["own", "good"].map(|token| ask(endpoint(), token).status);
            assert_eq!(statuses, [200, 401]);
        }
    }
    let program = || ProtectedResource::at("https://program.example/mcp").expect("a URL").name("Program");
    let set = |name: &str| match name {
        "MCP_RESOURCE" => Some("https://environment.example/mcp".to_owned()),
        "MCP_SCOPES" => Some("a b".to_owned()),
        "MCP_AUTHORIZATION_SERVERS" => Some("https://issuer.example".to_owned()),
        "MCP_PAGE" => Some("on".to_owned()),
        "MCP_ALLOWED_ORIGINS" => Some("environment.example".to_owned()),
        _ => None,
    };
    let own_origins = || AllowedOrigins::local().and("program.example");
    for endpoint in [
        new().auth(own).resource(program()).allowed_origins(own_origins()).without_page().configured(&set),
        new().auth(own).configured(&set).resource(program()).allowed_origins(own_origins()).without_page(),
    ] {
        let at = "https://program.example/.well-known/oauth-protected-resource";
        let metadata = post("").verb("GET").at(at).document(&endpoint).body.expect("a document");
        let expected = json!({
            "resource": "https://program.example/mcp", "authorization_servers": ["https://issuer.example"],
            "scopes_supported": ["a", "b"], "bearer_methods_supported": ["header"], "resource_name": "Program",
        });
        assert_eq!(metadata, expected);
        let from = |origin: &str| {
            let ping =
                legacy("ping", json!({})).at("https://program.example/mcp").bearer("own").header("Origin", origin);
            ping.ask_at(&endpoint).status
        };
        assert_eq!((from("https://program.example"), from("https://environment.example")), (200, 403));
        let page = post("").verb("GET").at("https://program.example/").header("Accept", "text/html").ask_at(&endpoint);
        assert_eq!(page.status, 404);
    }
    let wrong = |name: &str| (name == "MCP_RESOURCE").then(|| "7".to_owned());
    for endpoint in [
        new().auth(own).configured(&wrong),
        new().configured(&wrong).auth(own),
        new().configured(&wrong).without_auth(),
    ] {
        let answer = ask(endpoint, "own");
        assert_eq!((answer.status, answer.message().contains("MCP_RESOURCE")), (503, true));
    }
}

/// The environment can configure the allowed origins, the URL, the authorization servers and the scopes.
#[test]
fn origins_url_authorization_servers_and_scopes_can_be_configured() {
    let variables = with(
        &STATIC,
        &[
            ("MCP_RESOURCE", RESOURCE),
            ("MCP_AUTHORIZATION_SERVERS", " https://a.example,\nhttps://b.example "),
            ("MCP_SCOPES", "kb:read, kb:write"),
            ("MCP_ALLOWED_ORIGINS", "app.example.com https://one.example:8443"),
            ("MCP_SERVERLESS", "true"),
        ],
    );
    for (origin, status) in [
        ("http://localhost:1", 200),
        ("https://app.example.com", 200),
        ("https://one.example:8443", 200),
        ("https://kb.example.com", 200),
        ("https://one.example", 403),
    ] {
        let ask = legacy("ping", json!({})).at(RESOURCE).bearer("good").header("Origin", origin);
        assert_eq!(ask.ask_at(&endpoint(&variables)).status, status, "{origin}");
    }
    let challenge = legacy("ping", json!({})).at(RESOURCE).ask_at(&endpoint(&variables));
    assert_eq!(
        challenge.header("www-authenticate"),
        Some(
            "Bearer scope=\"kb:read kb:write\", \
             resource_metadata=\"https://kb.example.com/.well-known/oauth-protected-resource/mcp\""
        )
    );
    let old = post("").verb("GET").at("https://kb.example.com/.well-known/oauth-authorization-server");
    let answer = old.document(&endpoint(&variables));
    assert_eq!(answer.header("location"), Some("https://a.example/.well-known/oauth-authorization-server"));
}

/// The rate limit is the binding `MCP_RATE_LIMIT`.
#[test]
fn the_rate_limit_is_a_binding() {
    struct Bound(RefCell<Vec<String>>);
    impl Environment for Bound {
        fn variable(&self, name: &str) -> Option<String> {
            (name == "MCP_AUTH").then(|| "none".into())
        }

        fn rate_limit(&self, name: &str) -> Option<edge_mcp::host::RateLimit> {
            self.0.borrow_mut().push(name.to_owned());
            None
        }
    }
    let environment = Bound(RefCell::default());
    let endpoint = Endpoint::new(server).configured(&environment);
    assert_eq!(*environment.0.borrow(), ["MCP_RATE_LIMIT"]);
    assert_eq!(legacy("ping", json!({})).ask_at(&endpoint).status, 200);
}

/// The error about a missing secret explains how the program gets its secrets, if the environment provides this text. Other errors do not.
#[test]
fn a_missing_secret_is_explained() {
    struct Machine(Vec<(&'static str, &'static str)>);
    impl Environment for Machine {
        fn variable(&self, name: &str) -> Option<String> {
            self.0.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        }

        fn about_secrets(&self) -> &'static str {
            "Secrets are in the safe"
        }
    }
    let without = |variables: &[(&'static str, &'static str)], missing: &'static str| {
        let mut variables = variables.to_vec();
        variables.push((missing, ""));
        let endpoint = Endpoint::new(server).without_rate_limit().configured(&Machine(variables));
        legacy("ping", json!({})).at(RESOURCE).bearer("good").ask_at(&endpoint).message().to_owned()
    };
    for (message, is_explained) in [
        (without(&STATIC, "MCP_STATIC_TOKENS"), true),
        (without(&INTROSPECTION, "MCP_INTROSPECTION_CLIENT_SECRET"), true),
        (without(&INTROSPECTION, "MCP_INTROSPECTION_CLIENT_ID"), false),
        (without(&JWT, "MCP_JWKS_URL"), false),
    ] {
        assert!(message.contains("is not set"), "{message}");
        assert_eq!(message.contains("Secrets are in the safe"), is_explained, "{message}");
    }
}

/// The program reads its own variables with the same sentences. A missing one closes the endpoint, and the caller gets its name.
#[test]
fn a_program_reads_its_own_variables() {
    struct Machine;
    impl Environment for Machine {
        fn variable(&self, name: &str) -> Option<String> {
            let known = [("RATES_URL", " https://rates.example "), ("EMPTY", " "), ("LIST", "[\"a\"]")];
            known.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        }

        fn about_secrets(&self) -> &'static str {
            "Secrets are in the safe"
        }
    }
    let variables = edge_mcp::Variables::of(&Machine);
    let of = |read: Result<String, ConfigError>| read.map_err(|error| error.to_string());
    assert_eq!(of(variables.required("RATES_URL", "a URL")), Ok("https://rates.example".into()));
    assert_eq!(of(variables.secret("RATES_URL", "a URL")), Ok("https://rates.example".into()));
    assert_eq!(variables.get("EMPTY"), Ok(None));
    assert_eq!(variables.get("OTHER"), Ok(None));
    assert_eq!(of(variables.required("EMPTY", "a URL")), Err("EMPTY is not set: set it to a URL".into()));
    let missing = "RATES_KEY is not set: set it to the key of the rates. Secrets are in the safe";
    assert_eq!(of(variables.secret("RATES_KEY", "the key of the rates")), Err(missing.into()));
    for read in [variables.required("LIST", "a list"), variables.secret("LIST", "a list")] {
        assert!(of(read).is_err_and(|error| error.starts_with("LIST must be a string")));
    }
    let key = variables.secret("RATES_KEY", "the key of the rates");
    let endpoint = Endpoint::from(key.map(|key| Endpoint::new(server).without_auth().state(key)));
    let answer = legacy("ping", json!({})).ask_at(&endpoint);
    assert_eq!(answer.status, 503);
    assert!(answer.message().contains(missing), "{}", answer.message());
}
