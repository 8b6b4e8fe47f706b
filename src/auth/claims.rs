//! What a token says, or an authorization server says of it, and whether that is good here.
//!
//! Each claim is checked by its type too: one of the wrong type says nothing, and a token that says nothing of its end would
//! never end.
//!
//! Source: RFC 7519 §4.1, RFC 7662 §2.2, RFC 9068 §4; 2026-07-28, basic/authorization, "Token Handling".

use serde_json::{Map, Value};

use super::principal::{CLIENT, Principal};
use super::secure_url::SecureUrl;
use super::validator::TokenRefusal;
use crate::json::{Document, JsonLimits, Kind};
use crate::limits::CLOCK_SKEW_SECONDS;

/// The values of `token_use` that mean an access token: Amazon Cognito says `access`, Ory Hydra `access_token`. Cognito calls other
/// tokens `id`, Hydra `refresh_token`.
const ACCESS_TOKEN_USES: [&str; 2] = ["access", "access_token"];
/// The values of the claim `typ` that mean another token at Keycloak, whose access tokens have `Bearer` or `DPoP` there. Other issuers
/// write other things into `typ`, so the rest passes.
const OTHER_TOKEN_TYPES: [&str; 4] = ["ID", "Logout", "Offline", "Refresh"];

/// What is expected of claims.
#[derive(Clone, Debug, Default)]
pub(super) struct Expected {
    /// `iss`, where it is known.
    pub issuer: Option<String>,
    pub audience: Audience,
    /// Whether `exp` and, where it is known, `iss` must be there.
    pub all: bool,
}

/// The audience that a token must have.
#[derive(Clone, Debug, Default)]
pub(super) enum Audience {
    /// The URL of this server.
    #[default]
    Resource,
    /// Another name of it.
    Named(String),
    /// Any, and none.
    Any,
}

/// Reads an object, in which no key is twice.
pub(super) fn object(json: &[u8]) -> Option<Map<String, Value>> {
    let document = Document::parse(json, JsonLimits::default()).ok()?;
    if document.root().kind() != Kind::Object {
        return None;
    }
    document.root().to_map()
}

/// Whom `claims` speak for, if they are good at `now` for the server at `resource`.
pub(super) fn judge(
    claims: Map<String, Value>,
    expected: &Expected,
    resource: Option<&SecureUrl>,
    now: u64,
) -> Result<Principal, TokenRefusal> {
    let expires = time(&claims, "exp")?;
    let (not_before, since) = (time(&claims, "nbf")?, time(&claims, "iat")?);
    let issuer = string(&claims, "iss")?;
    let audience = strings(&claims, "aud")?;
    if !is_access_token(&claims)? {
        return Err(invalid("it is a refresh token or an ID token, not an access token"));
    }
    if string(&claims, "token_type")?.is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return Err(invalid("its `token_type` is not Bearer"));
    }
    if claims.contains_key("cnf") {
        return Err(invalid("it is bound to a key of its holder, which a bearer does not prove to have"));
    }
    match (issuer, &expected.issuer) {
        (Some(issuer), Some(known)) if issuer != known => return Err(invalid("its issuer is another")),
        (None, Some(_)) if expected.all => return Err(invalid("it names no issuer")),
        _ => {}
    }
    match expires {
        Some(expires) if has_ended(expires, now) => return Err(TokenRefusal::Expired),
        None if expected.all => return Err(invalid("it does not say when it ends")),
        _ => {}
    }
    let latest = now.saturating_add(CLOCK_SKEW_SECONDS);
    if not_before.is_some_and(|time| time > latest) {
        return Err(invalid("it is not good yet"));
    }
    if since.is_some_and(|time| time > latest) {
        return Err(invalid("it was issued in the future"));
    }
    let is_for_us = match &expected.audience {
        Audience::Any => true,
        Audience::Named(name) => audience.contains(&name.as_str()),
        Audience::Resource => resource.is_some_and(|url| audience.iter().any(|one| url.is_same_as(one))),
    };
    if !is_for_us {
        return Err(TokenRefusal::WrongAudience);
    }
    let client_id = match string(&claims, "client_id")? {
        Some(client) => Some(client),
        None => string(&claims, "azp")?,
    };
    Ok(Principal {
        subject: subject(string(&claims, "sub")?, client_id)?,
        issuer: issuer.or(expected.issuer.as_deref()).map(str::to_owned),
        client_id: client_id.map(str::to_owned),
        scopes: scopes(&claims)?,
        expires,
        // Another name of this server, or none that matters, is settled here.
        audience: match expected.audience {
            Audience::Resource => audience.into_iter().map(str::to_owned).collect(),
            Audience::Named(_) | Audience::Any => Vec::new(),
        },
        claims,
    })
}

/// Returns whether the claims are not marked as those of a refresh token or an ID token: an authorization server says `active` of
/// these too (RFC 7662 §2.1).
fn is_access_token(claims: &Map<String, Value>) -> Result<bool, TokenRefusal> {
    let is_one_of = |known: &[&str], name: &str| known.iter().any(|one| one.eq_ignore_ascii_case(name));
    let is_used_as_such = string(claims, "token_use")?.is_none_or(|name| is_one_of(&ACCESS_TOKEN_USES, name));
    let kind = claims.get("typ").and_then(Value::as_str);
    Ok(is_used_as_such && !kind.is_some_and(|kind| is_one_of(&OTHER_TOKEN_TYPES, kind)))
}

/// Returns the subject of a principal. A client without a user, or with its own id as `sub`, gets a subject that no user can have:
/// clients may be able to choose their ids (RFC 9068 §5).
fn subject(sub: Option<&str>, client_id: Option<&str>) -> Result<String, TokenRefusal> {
    let client_id = client_id.filter(|id| !id.is_empty());
    match (sub, client_id) {
        (Some(""), _) | (None, None) => Err(invalid("it names neither a subject nor a client")),
        (None, Some(id)) => Ok(format!("{CLIENT}{id}")),
        (Some(sub), Some(id)) if sub == id => Ok(format!("{CLIENT}{id}")),
        (Some(sub), _) if sub.starts_with(CLIENT) => Err(invalid("its `sub` begins like that of a client")),
        (Some(sub), _) => Ok(sub.to_owned()),
    }
}

/// Whether what ends at `expires` has ended, by a clock that may be fast.
pub(crate) fn has_ended(expires: u64, now: u64) -> bool {
    expires.saturating_add(CLOCK_SKEW_SECONDS) <= now
}

pub(super) fn invalid(detail: &'static str) -> TokenRefusal {
    TokenRefusal::Invalid(detail.into())
}

/// A claim of the wrong type.
fn wrong(claim: &str) -> TokenRefusal {
    TokenRefusal::Invalid(format!("its `{claim}` is of the wrong type").into())
}

/// `NumericDate` of RFC 7519 §2, to the second.
fn time(claims: &Map<String, Value>, name: &str) -> Result<Option<u64>, TokenRefusal> {
    let Some(value) = claims.get(name) else { return Ok(None) };
    let whole = || value.as_u64();
    // The cast holds on to the ends of the range.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let fraction = || value.as_f64().map(|seconds| seconds as u64);
    whole().or_else(fraction).map(Some).ok_or_else(|| wrong(name))
}

fn string<'c>(claims: &'c Map<String, Value>, name: &str) -> Result<Option<&'c str>, TokenRefusal> {
    claims.get(name).map(|value| value.as_str().ok_or_else(|| wrong(name))).transpose()
}

/// One string, or an array of them.
fn strings<'c>(claims: &'c Map<String, Value>, name: &str) -> Result<Vec<&'c str>, TokenRefusal> {
    match claims.get(name) {
        None => Ok(Vec::new()),
        Some(Value::String(one)) => Ok(vec![one]),
        Some(Value::Array(several)) => {
            several.iter().map(|one| one.as_str().ok_or_else(|| wrong(name))).collect::<Result<Vec<_>, _>>()
        }
        Some(_) => Err(wrong(name)),
    }
}

/// `scope`, with spaces between (RFC 8693 §4.2); else `scp`, as two of the large providers call it.
fn scopes(claims: &Map<String, Value>) -> Result<Vec<String>, TokenRefusal> {
    let listed = match string(claims, "scope")? {
        Some(scope) => vec![scope],
        None => strings(claims, "scp")?,
    };
    let each = listed.into_iter().flat_map(|scopes| scopes.split(' ')).filter(|scope| !scope.is_empty());
    Ok(each.map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scopes_have_spaces_between() {
        for (claims, expected) in [
            (json!({ "scope": "a b" }), vec!["a", "b"]),
            (json!({ "scope": "  a   b " }), vec!["a", "b"]),
            (json!({ "scope": "" }), vec![]),
            (json!({}), vec![]),
            (json!({ "scp": "a b" }), vec!["a", "b"]),
            (json!({ "scp": ["a", "b c"] }), vec!["a", "b", "c"]),
            (json!({ "scope": "a", "scp": ["b"] }), vec!["a"]),
        ] {
            let claims = claims.as_object().expect("an object");
            assert_eq!(scopes(claims).expect("scopes"), expected, "{claims:?}");
        }
    }
}
