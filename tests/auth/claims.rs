//! What must hold of claims, whether a token carries them or an authorization server tells them.

use edge_mcp::{Endpoint, Introspection, Jwt, ProtectedResource};
use serde_json::{Value, json};

use crate::issuer::{ISSUER, KEYS, RESOURCE, machine, token};
use crate::network;
use crate::support::{Answer, NOW, legacy, server};

/// A change that is made to claims which are good.
pub type Change = (&'static str, Value);

/// Claims that are good.
pub fn good() -> Value {
    json!({
        "active": true, "iss": ISSUER, "sub": "ada", "aud": RESOURCE, "client_id": "cli", "scope": "kb:read kb:write",
        "exp": NOW + 300, "iat": NOW - 10, "nbf": NOW - 10, "jti": "1", "token_type": "Bearer",
    })
}

/// The same, changed; `null` takes a claim away.
fn changed(changes: &[Change]) -> Value {
    let mut claims = good();
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

/// Asks with claims that an authorization server tells.
fn introspected(claims: &Value) -> Answer {
    let validator = Introspection::new("https://auth.example.com/introspect").expect("a URL");
    let validator = validator.issuer(ISSUER).without_cache();
    let network = network::answering(200, claims);
    legacy("tools/call", json!({ "name": "whoami" }))
        .at(RESOURCE)
        .bearer("opaque")
        .ask_on(&guarded().auth(validator), &machine(&network, NOW))
}

/// Asks with claims that a token carries.
fn signed(claims: &Value) -> Answer {
    let validator = Jwt::new("https://auth.example.com/jwks", ISSUER).expect("a URL");
    let network = network::answering(200, &json!({ "keys": KEYS.public() }));
    let token = token(&json!({ "alg": "EdDSA", "kid": "EdDSA", "typ": "at+jwt" }), claims);
    legacy("tools/call", json!({ "name": "whoami" }))
        .at(RESOURCE)
        .bearer(&token)
        .ask_on(&guarded().auth(validator), &machine(&network, NOW))
}

fn says(answer: &Answer) -> &str {
    answer.message()
}

const INVALID: &str = "is not valid";
const EXPIRED: &str = "has expired";
const AUDIENCE: &str = "for another server";

/// Rules 101 and 103: claims are checked, each with its type; a clock may be wrong by 60 seconds.
#[test]
fn claims_are_checked() {
    let table: Vec<(Vec<Change>, Option<&str>)> = vec![
        (vec![], None),
        // The audience is this server, or the token is for another.
        (vec![("aud", json!(["https://other.example", "HTTPS://KB.example.com/mcp/"]))], None),
        (vec![("aud", json!("https://kb.example.com"))], Some(AUDIENCE)),
        (vec![("aud", json!("https://kb.example.com/mcpfoo"))], Some(AUDIENCE)),
        (vec![("aud", json!(["https://other.example"]))], Some(AUDIENCE)),
        (vec![("aud", json!([]))], Some(AUDIENCE)),
        (vec![("aud", json!(null))], Some(AUDIENCE)),
        (vec![("aud", json!(7))], Some(INVALID)),
        (vec![("aud", json!([RESOURCE, 7]))], Some(INVALID)),
        (vec![("aud", json!({ "url": RESOURCE }))], Some(INVALID)),
        // Times, and the types of times.
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
        // The issuer.
        (vec![("iss", json!("https://auth.example.com/"))], Some(INVALID)),
        (vec![("iss", json!(["https://auth.example.com"]))], Some(INVALID)),
        // The kind: a bearer's, and bound to nobody's key.
        (vec![("token_type", json!("bearer"))], None),
        (vec![("token_type", json!("DPoP"))], Some(INVALID)),
        (vec![("token_type", json!(7))], Some(INVALID)),
        (vec![("cnf", json!({ "jkt": "x" }))], Some(INVALID)),
        (vec![("token_type", json!("refresh_token"))], Some(INVALID)),
        // The use: of an access token, where it is told.
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
        // Who it is.
        (vec![("sub", json!(7))], Some(INVALID)),
        (vec![("sub", json!(""))], Some(INVALID)),
        (vec![("sub", json!(null)), ("client_id", json!(null))], Some(INVALID)),
        (vec![("sub", json!(null)), ("client_id", json!(""))], Some(INVALID)),
        (vec![("sub", json!("edge-mcp:client:ada"))], Some(INVALID)),
        (vec![("sub", json!("edge-mcp:client:cli"))], Some(INVALID)),
        (vec![("client_id", json!(7))], Some(INVALID)),
        (vec![("scope", json!(["kb:read"]))], Some(INVALID)),
        (vec![("scope", json!(null)), ("scp", json!([7]))], Some(INVALID)),
        // Of several mistakes, the first in the order of the checks is told.
        (vec![("exp", json!(0)), ("aud", json!("https://other.example"))], Some(EXPIRED)),
    ];
    for (changes, refused) in table {
        for (kind, answer) in [("introspection", introspected(&changed(&changes))), ("jwt", signed(&changed(&changes)))]
        {
            match refused {
                None => assert_eq!(answer.tool_text(), ("ada", false), "{kind} {changes:?}"),
                Some(text) => {
                    assert_eq!(answer.status, 401, "{kind} {changes:?}");
                    assert!(says(&answer).contains(text), "{kind} {changes:?}: {}", says(&answer));
                }
            }
        }
    }
}

/// What an authorization server may leave out, a token that carries its own claims must have (RFC 9068 §2.2).
#[test]
fn a_signed_token_says_more() {
    for claim in ["iss", "exp"] {
        let claims = changed(&[(claim, json!(null))]);
        assert_eq!(introspected(&claims).tool_text(), ("ada", false), "{claim}");
        assert_eq!(signed(&claims).status, 401, "{claim}");
    }
}

/// A client that calls for itself has a subject that no user can have: the client `ada` is not the user `ada`, whether the token has
/// no `sub` or the client's own id there.
#[test]
fn a_client_is_no_user_of_the_same_name() {
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

/// Names and scopes in any script, and long ones, do no harm.
#[test]
fn claims_may_be_of_any_script() {
    let long = "x".repeat(10_000);
    for name in ["Ад\u{301}а 💡", "\u{202e}ada", "ada\u{0}\r\nX-Injected: 1", &long] {
        let claims = changed(&[("sub", json!(name)), ("scope", json!(name)), ("extra", json!({ name: [name] }))]);
        for answer in [introspected(&claims), signed(&claims)] {
            assert_eq!(answer.tool_text(), (name, false));
            assert!(answer.header("x-injected").is_none());
        }
    }
}
