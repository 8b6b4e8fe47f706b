//! Checks of the claims in a JWT and in an introspection answer.

use edge_mcp::Endpoint;
use edge_mcp::auth::{Introspection, Jwt, ProtectedResource};
use serde_json::{Value, json};

use crate::issuer::{ISSUER, KEYS, RESOURCE, host_at, token};
use crate::network;
use crate::support::{Answer, NOW, legacy, server};

/// The name of a claim and its new value. `null` removes the claim.
pub type Change = (&'static str, Value);

/// Returns claims that pass all checks.
pub fn valid_claims() -> Value {
    json!({
        "active": true, "iss": ISSUER, "sub": "ada", "aud": RESOURCE, "client_id": "cli", "scope": "kb:read kb:write",
        "exp": NOW + 300, "iat": NOW - 10, "nbf": NOW - 10, "jti": "1", "token_type": "Bearer",
    })
}

/// Returns valid claims with these changes.
fn changed(changes: &[Change]) -> Value {
    let mut claims = valid_claims();
    for (name, value) in changes {
        match value {
            Value::Null => drop(claims.as_object_mut().expect("an object").remove(*name)),
            value => claims[*name] = value.clone(),
        }
    }
    claims
}

fn guarded() -> Endpoint {
    let resource = ProtectedResource::at(RESOURCE).expect("a URL");
    Endpoint::new(server).resource(resource).without_rate_limit()
}

/// Calls `whoami` with an opaque token. The authorization server answers the introspection with `claims`.
fn introspected(claims: &Value) -> Answer {
    let validator = Introspection::new("https://auth.example.com/introspect").expect("a URL");
    let validator = validator.issuer(ISSUER).without_cache();
    let network = network::answering(200, claims);
    legacy("tools/call", json!({ "name": "whoami" }))
        .at(RESOURCE)
        .bearer("opaque")
        .ask_on(&guarded().auth(validator), &host_at(&network, NOW))
}

/// Calls `whoami` with a JWT that has `claims`.
fn signed(claims: &Value) -> Answer {
    let validator = Jwt::new("https://auth.example.com/jwks", ISSUER).expect("a URL");
    let network = network::answering(200, &json!({ "keys": KEYS.public() }));
    let token = token(&json!({ "alg": "EdDSA", "kid": "EdDSA", "typ": "at+jwt" }), claims);
    legacy("tools/call", json!({ "name": "whoami" }))
        .at(RESOURCE)
        .bearer(&token)
        .ask_on(&guarded().auth(validator), &host_at(&network, NOW))
}

const INVALID: &str = "is not valid";
const EXPIRED: &str = "has expired";
const AUDIENCE: &str = "for another server";

/// Rules 101 and 103: the endpoint checks the type and the value of each claim. The clock tolerance is 60 s.
#[test]
fn claims_are_checked() {
    let table: Vec<(Vec<Change>, Option<&str>)> = vec![
        (vec![], None),
        // `aud` must contain this server.
        (vec![("aud", json!(["https://other.example", "HTTPS://KB.example.com/mcp/"]))], None),
        (vec![("aud", json!("https://kb.example.com"))], Some(AUDIENCE)),
        (vec![("aud", json!("https://kb.example.com/mcpfoo"))], Some(AUDIENCE)),
        (vec![("aud", json!(["https://other.example"]))], Some(AUDIENCE)),
        (vec![("aud", json!([]))], Some(AUDIENCE)),
        (vec![("aud", json!(null))], Some(AUDIENCE)),
        (vec![("aud", json!(7))], Some(INVALID)),
        (vec![("aud", json!([RESOURCE, 7]))], Some(INVALID)),
        (vec![("aud", json!({ "url": RESOURCE }))], Some(INVALID)),
        // `exp`, `nbf` and `iat` must be numbers in the correct range.
        (vec![("exp", json!(NOW - 59))], None),
        (vec![("exp", json!(NOW - 60))], Some(EXPIRED)),
        (vec![("exp", json!(0))], Some(EXPIRED)),
        (vec![("exp", json!(-1))], Some(EXPIRED)),
        (vec![("exp", json!(f64::from(u32::try_from(NOW).expect("small")) + 0.5))], None),
        (vec![("exp", json!(u64::MAX))], None),
        (vec![("exp", json!((NOW + 300).to_string()))], Some(INVALID)),
        (vec![("exp", json!(true))], Some(INVALID)),
        (vec![("exp", json!([NOW + 300]))], Some(INVALID)),
        (vec![("nbf", json!(NOW + 60))], None),
        (vec![("nbf", json!(NOW + 61))], Some(INVALID)),
        (vec![("nbf", json!("0"))], Some(INVALID)),
        (vec![("iat", json!(NOW + 60))], None),
        (vec![("iat", json!(NOW + 61))], Some(INVALID)),
        (vec![("iat", json!({}))], Some(INVALID)),
        // `iss` must be the configured issuer.
        (vec![("iss", json!("https://auth.example.com/"))], Some(INVALID)),
        (vec![("iss", json!(["https://auth.example.com"]))], Some(INVALID)),
        // `token_type` must be `Bearer`. `cnf` must be absent, because it binds the token to a key, which the endpoint cannot check.
        (vec![("token_type", json!("bearer"))], None),
        (vec![("token_type", json!("DPoP"))], Some(INVALID)),
        (vec![("token_type", json!(7))], Some(INVALID)),
        (vec![("cnf", json!({ "jkt": "x" }))], Some(INVALID)),
        (vec![("token_type", json!("refresh_token"))], Some(INVALID)),
        // If `token_use` or `typ` states the type of the token, it must be an access token.
        (vec![("token_use", json!("access"))], None),
        (vec![("token_use", json!("access_token"))], None),
        (vec![("token_use", json!("refresh_token"))], Some(INVALID)),
        (vec![("token_use", json!("refresh"))], Some(INVALID)),
        (vec![("token_use", json!("id"))], Some(INVALID)),
        (vec![("token_use", json!(""))], Some(INVALID)),
        (vec![("token_use", json!(["access"]))], Some(INVALID)),
        (vec![("typ", json!("Bearer"))], None),
        (vec![("typ", json!("at+jwt"))], None),
        (vec![("typ", json!(7))], None),
        (vec![("typ", json!("Refresh"))], Some(INVALID)),
        (vec![("typ", json!("Offline"))], Some(INVALID)),
        (vec![("typ", json!("ID"))], Some(INVALID)),
        // `sub`, `client_id` and the scopes must be valid.
        (vec![("sub", json!(7))], Some(INVALID)),
        (vec![("sub", json!(""))], Some(INVALID)),
        (vec![("sub", json!(null)), ("client_id", json!(null))], Some(INVALID)),
        (vec![("sub", json!(null)), ("client_id", json!(""))], Some(INVALID)),
        (vec![("sub", json!("edge-mcp:client:ada"))], Some(INVALID)),
        (vec![("sub", json!("edge-mcp:client:cli"))], Some(INVALID)),
        (vec![("client_id", json!(7))], Some(INVALID)),
        (vec![("scope", json!(["kb:read"]))], Some(INVALID)),
        (vec![("scope", json!(null)), ("scp", json!([7]))], Some(INVALID)),
        // If several claims are wrong, the first failed check is reported.
        (vec![("exp", json!(0)), ("aud", json!("https://other.example"))], Some(EXPIRED)),
    ];
    for (changes, problem) in table {
        for (kind, answer) in [("introspection", introspected(&changed(&changes))), ("jwt", signed(&changed(&changes)))]
        {
            match problem {
                None => assert_eq!(answer.tool_text(), ("ada", false), "{kind} {changes:?}"),
                Some(text) => {
                    assert_eq!(answer.status, 401, "{kind} {changes:?}");
                    assert!(answer.message().contains(text), "{kind} {changes:?}: {}", answer.message());
                }
            }
        }
    }
}

/// `iss` and `exp` are optional in an introspection answer, and required in a JWT (RFC 9068 §2.2).
#[test]
fn a_jwt_must_have_iss_and_exp() {
    for claim in ["iss", "exp"] {
        let claims = changed(&[(claim, json!(null))]);
        assert_eq!(introspected(&claims).tool_text(), ("ada", false), "{claim}");
        assert_eq!(signed(&claims).status, 401, "{claim}");
    }
}

/// The token of a client that calls for itself has no `sub`, or its `sub` equals its client id. The subject of such a caller has a prefix
/// that a user cannot have. So the client `ada` is not the user `ada`.
#[test]
fn a_client_is_not_the_user_of_the_same_name() {
    let user = changed(&[]);
    for (changes, subject) in [
        (vec![("sub", json!(null))], "edge-mcp:client:cli"),
        (vec![("sub", json!(null)), ("client_id", json!("ada"))], "edge-mcp:client:ada"),
        (vec![("client_id", json!("ada"))], "edge-mcp:client:ada"),
        (vec![("sub", json!(null)), ("client_id", json!(null)), ("azp", json!("ada"))], "edge-mcp:client:ada"),
        (vec![("client_id", json!(null)), ("azp", json!("ada"))], "edge-mcp:client:ada"),
        (vec![("sub", json!(null)), ("client_id", json!("edge-mcp:client:x"))], "edge-mcp:client:edge-mcp:client:x"),
        (vec![("sub", json!("Ada"))], "Ada"),
    ] {
        for (ask, kind) in [(introspected as fn(&Value) -> Answer, "introspection"), (signed, "jwt")] {
            assert_eq!(ask(&changed(&changes)).tool_text(), (subject, false), "{kind} {changes:?}");
            assert_eq!(ask(&user).tool_text(), ("ada", false), "{kind}");
        }
    }
}

/// Subjects and scopes may have characters of any script, control characters, and any length. They do not add a response header.
#[test]
fn claims_may_have_any_characters_and_length() {
    let long = "x".repeat(10_000);
    for name in ["Ад\u{301}а 💡", "\u{202e}ada", "ada\u{0}\r\nX-Injected: 1", &long] {
        let claims = changed(&[("sub", json!(name)), ("scope", json!(name)), ("extra", json!({ name: [name] }))]);
        for answer in [introspected(&claims), signed(&claims)] {
            assert_eq!(answer.tool_text(), (name, false));
            assert!(answer.header("x-injected").is_none());
        }
    }
}
