//! Custom validators, and several validators together.

use std::error::Error;

use edge_mcp::auth::{
    AnyOf, ExpectedClaims, Introspection, Jwt, PresentedToken, Principal, ProtectedResource, TokenRefusal,
    TokenValidator,
};
use edge_mcp::testing::{self, TestHost, validate};
use edge_mcp::{BuildError, ConfigError, Context, Endpoint, HandlerError, McpServer, StaticTokens, Tool};
use serde_json::json;

use crate::claims::valid_claims;
use crate::issuer::{ISSUER, KEYS, RESOURCE, host_at, token};
use crate::network;
use crate::support::{NOW, legacy, server};

struct ByLength(usize);

impl TokenValidator for ByLength {
    async fn validate(&self, presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
        if presented.token().len() == self.0 {
            Ok(Principal::new(presented.resource().map_or("nowhere", |url| url.as_str())))
        } else {
            Err(TokenRefusal::Invalid("another length".into()))
        }
    }
}

async fn function(presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
    match presented.token() {
        "now" => Ok(Principal::new(presented.now().to_string())),
        "down" => Err(TokenRefusal::Unavailable("the test needs this".into())),
        "often" => Err(TokenRefusal::TooManyRequests),
        _ => Err(TokenRefusal::WrongAudience),
    }
}

/// A type, a function and a closure can be validators. Handlers get the caller that the validator returns.
#[test]
fn types_functions_and_closures_can_be_validators() {
    let known = "ada".to_owned();
    let closure = async move |presented: PresentedToken<'_>| {
        if presented.token() == known { Ok(Principal::new(known.clone())) } else { Err(TokenRefusal::Expired) }
    };
    let validators = AnyOf::new().or(ByLength(7)).or(function).or(closure);
    let endpoint = Endpoint::new(server).auth(validators).without_rate_limit();
    for (token, subject) in [("1234567", "http://localhost/mcp"), ("now", &NOW.to_string()), ("ada", "ada")] {
        let answer = legacy("tools/call", json!({ "name": "whoami" })).bearer(token).ask_at(&endpoint);
        assert_eq!(answer.tool_text(), (subject, false), "{token}");
    }
    for (token, status) in [("other", 401), ("down", 503), ("often", 429)] {
        assert_eq!(legacy("ping", json!({})).bearer(token).ask_at(&endpoint).status, status, "{token}");
    }
}

/// A validator of your own checks claims like the validators of the library, and a test can call it without an endpoint.
#[test]
fn a_validator_can_check_claims() {
    async fn trusting(presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
        let claims = serde_json::from_str(presented.token()).expect("the test sends claims");
        ExpectedClaims::of_issuer(ISSUER).check(claims, presented)
    }
    let (host, resource) = (TestHost::new().clock(NOW * 1000), ProtectedResource::at(RESOURCE).expect("a URL"));
    let subject = |claims: serde_json::Value| {
        let validated = testing::run(validate(&trusting, &claims.to_string(), &resource, &host));
        validated.map(|principal| principal.subject)
    };
    assert_eq!(subject(valid_claims()), Ok("ada".to_owned()));
    for (name, value, refusal) in [
        ("aud", json!("https://other.example/mcp"), "wrong audience"),
        ("exp", json!(NOW - 120), "expired"),
        ("exp", json!("soon"), "invalid: its `exp` has the wrong type"),
        ("iss", json!("https://other.example"), "invalid: its `iss` is not the expected issuer"),
    ] {
        let mut claims = valid_claims();
        claims[name] = value;
        assert_eq!(subject(claims).expect_err(name).to_string(), refusal);
    }
}

/// The endpoint checks the expiry and the audience even if the validator accepts the token.
#[test]
fn expiry_and_audience_are_checked_for_every_validator() {
    async fn lax(presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
        let mut principal = Principal::new("ada");
        match presented.token() {
            "expired" => principal.expires = Some(NOW - 60),
            "within-tolerance" => principal.expires = Some(NOW - 59),
            "foreign" => principal.audience = vec!["https://other.example/mcp".into()],
            _ => principal.audience = vec!["https://other.example/mcp".into(), format!("{RESOURCE}/")],
        }
        Ok(principal)
    }
    let resource = ProtectedResource::at(RESOURCE).expect("a URL");
    let endpoint = Endpoint::new(server).auth(lax).resource(resource).without_rate_limit();
    for (token, status) in [("expired", 401), ("within-tolerance", 200), ("foreign", 401), ("ours", 200)] {
        assert_eq!(legacy("ping", json!({})).bearer(token).ask_at(&endpoint).status, status, "{token}");
    }
}

/// The validators are tried in order until one accepts the token. If all reject it, the caller gets the most specific error. If one of
/// them cannot check the token, the caller gets a 503, because the token may be valid.
#[test]
fn several_validators_are_tried_in_order() {
    let tokens =
        r#"[{"token":"good","subject":"static","scopes":[]},{"token":"late","subject":"eve","scopes":[],"expires":1}]"#;
    let validators = AnyOf::new()
        .or(StaticTokens::from_json("MCP_STATIC_TOKENS", Some(tokens)).expect("tokens"))
        .or(Jwt::new("https://auth.example.com/jwks", ISSUER).expect("a URL"))
        .or(Introspection::new("https://auth.example.com/introspect").expect("a URL").issuer(ISSUER));
    let resource = ProtectedResource::at(RESOURCE).expect("a URL");
    let endpoint = Endpoint::new(server).auth(validators).resource(resource).without_rate_limit();
    let network = network::of(|request| {
        let body = match request.uri().path() {
            "/jwks" => json!({ "keys": KEYS.public() }),
            _ if request.body().starts_with("token=opaque&") => valid_claims(),
            _ if request.body().starts_with("token=down&") => return Err(edge_mcp::host::FetchError::TooSlow),
            _ => json!({ "active": false }),
        };
        Ok(edge_mcp::host::Fetched::new(200, body.to_string()))
    });
    let head = json!({ "alg": "ES256", "kid": "ES256", "typ": "at+jwt" });
    let mut foreign = valid_claims();
    foreign["aud"] = json!("https://other.example");
    for (token, status, expected) in [
        ("good", 200, "static"),
        ("opaque", 200, "ada"),
        (&token(&head, &valid_claims()), 200, "ada"),
        ("unknown", 401, "is not valid"),
        ("late", 401, "has expired"),
        ("down", 503, "cannot be checked"),
        (&token(&head, &foreign), 401, "for another server"),
    ] {
        let whoami = legacy("tools/call", json!({ "name": "whoami" })).at(RESOURCE).bearer(token);
        let answer = whoami.ask_on(&endpoint, &host_at(&network, NOW));
        assert_eq!(answer.status, status, "{token}");
        let text = if status == 200 { answer.tool_text().0 } else { answer.message() };
        assert!(text.contains(expected), "{token}: {text}");
    }
}

/// An error in the configuration closes the endpoint. The log has every error. Callers see the setting or the definition that it names, whatever
/// the error type of the endpoint function is. They do not see the text of another error.
#[test]
fn a_configuration_error_closes_the_endpoint() {
    fn tokens() -> Result<StaticTokens, ConfigError> {
        StaticTokens::from_json("MCP_STATIC_TOKENS", None)
    }
    fn invalid() -> Result<McpServer, BuildError> {
        McpServer::builder("s", "1").tool(Tool::new("a b", "Has a space.", || async {})).build()
    }
    fn configured() -> Result<Endpoint, ConfigError> {
        Ok(Endpoint::new(server).auth(AnyOf::new().or(ByLength(4)).or(tokens()?)))
    }
    fn built() -> Result<Endpoint, ConfigError> {
        Ok(Endpoint::of(invalid()?))
    }
    fn boxed(step: u8) -> Result<Endpoint, Box<dyn Error>> {
        match step {
            0 => Ok(Endpoint::new(server).auth(tokens()?)),
            1 => Ok(Endpoint::of(invalid()?)),
            _ => Err("the binding s3cret is missing".into()),
        }
    }
    let built_only = invalid().map(Endpoint::of);
    let other = Err::<Endpoint, _>("the binding s3cret is missing".to_owned());
    for (endpoint, problem, is_shown) in [
        (Endpoint::from(configured()), "MCP_STATIC_TOKENS", true),
        (built().into(), "the tool \"a b\"", true),
        (built_only.into(), "the tool \"a b\"", true),
        (boxed(0).into(), "MCP_STATIC_TOKENS", true),
        (boxed(1).into(), "the tool \"a b\"", true),
        (boxed(2).into(), "s3cret", false),
        (other.into(), "s3cret", false),
    ] {
        let host = TestHost::new();
        // A validator that is set later does not open the endpoint.
        let answer = legacy("ping", json!({})).bearer("1234").ask_on(&endpoint.auth(ByLength(4)), &host);
        assert_eq!((answer.status, answer.message().contains(problem)), (503, is_shown), "{problem}");
        assert!(host.log_text().contains(&problem.replace('"', "\\\"")), "{problem}");
    }
}

/// In a handler, `?` converts a `TokenRefusal` into a `HandlerError`. Only the log has its details.
#[test]
fn a_refusal_converts_into_the_error_of_a_handler() {
    async fn check() -> Result<String, HandlerError> {
        Err(TokenRefusal::Invalid("its issuer is unknown".into()))?
    }
    let endpoint =
        Endpoint::new(|_| McpServer::builder("s", "1").tool(Tool::new("check", "Checks a token.", check)).build());
    let host = TestHost::new();
    let call = legacy("tools/call", json!({ "name": "check" }));
    let answer = call.ask_on(&endpoint.without_auth().without_rate_limit(), &host);
    assert!(answer.tool_text().1 && !answer.tool_text().0.contains("issuer"), "{answer:?}");
    assert!(host.log_text().contains("invalid: its issuer is unknown"), "{}", host.log_text());
}

/// Validators that vouch for different issuers never identify the same caller, whatever subject their tokens have. So nothing that belongs
/// to a caller is shared: request states, tasks, the rate limit and tokens for other servers.
#[test]
fn callers_of_different_validators_never_have_the_same_identity() {
    async fn identity(cx: Context) -> Result<String, HandlerError> {
        let caller = cx.caller()?;
        Ok(format!("{} {}", caller.issuer.as_deref().unwrap_or("none"), caller.subject))
    }
    fn of(token: &'static str, issuer: Option<&'static str>) -> impl TokenValidator {
        async move |presented: PresentedToken<'_>| {
            let mut principal = Principal::new("owner");
            principal.issuer = issuer.map(str::to_owned);
            if presented.token() == token { Ok(principal) } else { Err(TokenRefusal::Expired) }
        }
    }
    let network = network::of(|request| {
        let mut claims = json!({ "active": true, "sub": "owner", "aud": RESOURCE });
        match request.body().split(['=', '&']).nth(1) {
            Some("nameless") => {}
            Some("of-list") => claims["iss"] = json!("edge-mcp:static"),
            Some("of-position") => claims["iss"] = json!("edge-mcp:validator:4"),
            Some("of-jwt") => claims["iss"] = json!(ISSUER),
            Some("of-other") => claims["iss"] = json!("https://other.example"),
            _ => claims = json!({ "active": false }),
        }
        Ok(edge_mcp::host::Fetched::new(200, claims.to_string()))
    });
    let tokens = r#"[{"token":"listed","subject":"owner","scopes":[]}]"#;
    let validators = AnyOf::new()
        .or(StaticTokens::from_json("MCP_STATIC_TOKENS", Some(tokens)).expect("tokens"))
        .or(Jwt::new("https://auth.example.com/jwks", ISSUER).expect("a URL"))
        .or(Introspection::new("https://auth.example.com/introspect").expect("a URL"))
        .or(of("first", None))
        .or(of("second", None))
        .or(of("thief", Some(ISSUER)))
        .or(AnyOf::new().or(of("nested", None)))
        .or(AnyOf::new().or(of("nested-too", None)).or(of("nested-thief", Some("edge-mcp:static"))));
    let endpoint =
        Endpoint::new(|_| McpServer::builder("s", "1").tool(Tool::new("identity", "Shows it.", identity)).build());
    let resource = ProtectedResource::at(RESOURCE).expect("a URL");
    let endpoint = endpoint.auth(validators).resource(resource).without_rate_limit();
    for (token, issuer) in [
        ("listed", Some("edge-mcp:static")),
        ("nameless", Some("https://auth.example.com/introspect")),
        ("of-other", Some("https://other.example")),
        ("of-list", None),
        ("of-position", None),
        ("of-jwt", None),
        ("first", Some("edge-mcp:validator:4")),
        ("second", Some("edge-mcp:validator:5")),
        ("thief", None),
        ("nested", Some("edge-mcp:validator:1.7")),
        ("nested-too", Some("edge-mcp:validator:1.8")),
        ("nested-thief", None),
    ] {
        let call = legacy("tools/call", json!({ "name": "identity" })).at(RESOURCE).bearer(token);
        let answer = call.ask_on(&endpoint, &host_at(&network, NOW));
        match issuer {
            Some(issuer) => assert_eq!(answer.tool_text(), (&*format!("{issuer} owner"), false), "{token}"),
            None => assert_eq!(answer.status, 401, "{token}"),
        }
    }
}

/// An `AnyOf` without validators rejects every token.
#[test]
fn an_empty_any_of_rejects_every_token() {
    assert_eq!(legacy("ping", json!({})).bearer("x").ask_at(&Endpoint::new(server).auth(AnyOf::new())).status, 401);
}
