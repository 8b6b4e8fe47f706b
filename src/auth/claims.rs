//! The checks of a token's claims. The claims come from the token itself, or from an introspection answer.
//!
//! A claim of the wrong type is an error. If it were ignored, a token with a malformed `exp` would never expire.
//!
//! Source: RFC 7519 §4.1, RFC 7662 §2.2, RFC 9068 §4; 2026-07-28, basic/authorization, "Token Handling".

use edge_json::{Document, JsonLimits};
use serde_json::{Map, Value};

use super::principal::{CLIENT_PREFIX, OWN_ISSUERS, Principal};
use super::validator::{PresentedToken, TokenRefusal};
use crate::host::is_same_url;
use crate::limits::CLOCK_SKEW_SECONDS;

/// The values of `token_use` for access tokens: `access` at Amazon Cognito, `access_token` at Ory Hydra. Other tokens have `id` (Cognito)
/// or `refresh_token` (Hydra).
const ACCESS_TOKEN_USES: [&str; 2] = ["access", "access_token"];
/// The values of the claim `typ` with which Keycloak marks tokens that are not access tokens. Other issuers use `typ` for other purposes,
/// so every other value passes.
const OTHER_TOKEN_TYPES: [&str; 4] = ["ID", "Logout", "Offline", "Refresh"];

/// The claims that a token must have. A [validator of your own](super::validator::TokenValidator) checks them with the code of the
/// validators of this library.
///
/// ```
/// use edge_mcp::auth::{ExpectedClaims, PresentedToken, Principal, TokenRefusal};
/// use serde_json::{Map, Value};
///
/// async fn by_service(presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
///     let claims: Map<String, Value> = claims_of(presented.token()).await?;
///     ExpectedClaims::of_issuer("https://auth.example.com").check(claims, presented)
/// }
/// # async fn claims_of(_: &str) -> Result<Map<String, Value>, TokenRefusal> { Err(TokenRefusal::Expired) }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct ExpectedClaims {
    /// The expected `iss`, if it is configured.
    pub(super) issuer: Option<String>,
    /// The issuer of a token that names none, if no issuer is configured.
    pub(super) default_issuer: Option<String>,
    pub(super) audience: Audience,
    /// Whether a token must have an `exp`, and an `iss` if `issuer` is set.
    pub(super) requires_claims: bool,
}

impl ExpectedClaims {
    /// Expects a token of `issuer` (`iss`) for the URL of this server (`aud`) that expires (`exp`).
    pub fn of_issuer(issuer: impl Into<String>) -> Self {
        Self { issuer: Some(issuer.into()), default_issuer: None, audience: Audience::Resource, requires_claims: true }
    }

    /// Expects this audience instead of the URL of this server.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audience = Audience::Named(audience.into());
        self
    }

    /// Checks the claims of a token, and returns the caller that they identify. Call it only for claims that the issuer has confirmed, for
    /// example by a signature: this method sees no signature.
    ///
    /// The claims must be those of an access token that is valid now. A claim of the wrong type is an error.
    ///
    /// # Errors
    /// The refusal of the first check that fails.
    pub fn check(&self, claims: Map<String, Value>, presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
        let now = presented.now();
        let expires = time(&claims, "exp")?;
        let (not_before, issued_at) = (time(&claims, "nbf")?, time(&claims, "iat")?);
        let issuer = string(&claims, "iss")?;
        let audience = strings(&claims, "aud")?;
        if !is_access_token(&claims)? {
            return Err(invalid("it is a refresh token or an ID token, not an access token"));
        }
        if string(&claims, "token_type")?.is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
            return Err(invalid("its `token_type` is not Bearer"));
        }
        if claims.contains_key("cnf") {
            return Err(invalid(
                "it is bound to a key (`cnf`), and this server cannot check that the caller has the key",
            ));
        }
        match (issuer, &self.issuer) {
            (Some(issuer), Some(known)) if issuer != known => {
                return Err(invalid("its `iss` is not the expected issuer"));
            }
            (None, Some(_)) if self.requires_claims => return Err(invalid("it has no `iss`")),
            (Some(issuer), None) if issuer.starts_with(OWN_ISSUERS) => {
                return Err(invalid("its `iss` begins with `edge-mcp:`, which is reserved"));
            }
            _ => {}
        }
        match expires {
            Some(expires) if has_expired(expires, now) => return Err(TokenRefusal::Expired),
            None if self.requires_claims => return Err(invalid("it has no `exp`")),
            _ => {}
        }
        let latest = now.saturating_add(CLOCK_SKEW_SECONDS);
        if not_before.is_some_and(|time| time > latest) {
            return Err(invalid("it is not valid yet (`nbf`)"));
        }
        if issued_at.is_some_and(|time| time > latest) {
            return Err(invalid("it was issued in the future (`iat`)"));
        }
        let is_for_us = match &self.audience {
            Audience::Any => true,
            Audience::Named(name) => audience.contains(&name.as_str()),
            Audience::Resource => {
                presented.resource().is_some_and(|url| audience.iter().any(|one| is_same_url(url.as_str(), one)))
            }
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
            issuer: issuer.or(self.own_issuer()).map(str::to_owned),
            client_id: client_id.map(str::to_owned),
            scopes: scopes(&claims)?,
            expires,
            // The endpoint compares the audience with the URL of this server again, unless it is empty. With `Named` and `Any`, the token may
            // have another audience, so the principal does not contain the audience.
            audience: match self.audience {
                Audience::Resource => audience.into_iter().map(str::to_owned).collect(),
                Audience::Named(_) | Audience::Any => Vec::new(),
            },
            claims,
        })
    }

    /// Returns the issuer of a token that names none.
    pub(super) fn own_issuer(&self) -> Option<&str> {
        self.issuer.as_deref().or(self.default_issuer.as_deref())
    }

    /// Returns whether the audience is the URL of this server, so that an endpoint needs one.
    pub(super) fn needs_resource(&self) -> bool {
        matches!(self.audience, Audience::Resource)
    }
}

/// The audience that a token must have.
#[derive(Clone, Debug, Default)]
pub(super) enum Audience {
    /// The URL of this server.
    #[default]
    Resource,
    /// This configured name.
    Named(String),
    /// Any audience. A token without an audience is accepted too.
    Any,
}

/// Parses a JSON object without duplicate keys.
pub(super) fn parse_object(json: &[u8]) -> Option<Map<String, Value>> {
    Document::parse(json, JsonLimits::default()).ok()?.root().to_map()
}

/// Returns `false` if the claims are marked as the claims of another kind of token, such as a refresh token or an ID token. An
/// authorization server may report such a token as active (RFC 7662 §2.1).
fn is_access_token(claims: &Map<String, Value>) -> Result<bool, TokenRefusal> {
    let is_one_of = |known: &[&str], name: &str| known.iter().any(|one| one.eq_ignore_ascii_case(name));
    let is_used_as_such = string(claims, "token_use")?.is_none_or(|name| is_one_of(&ACCESS_TOKEN_USES, name));
    let kind = claims.get("typ").and_then(Value::as_str);
    Ok(is_used_as_such && !kind.is_some_and(|kind| is_one_of(&OTHER_TOKEN_TYPES, kind)))
}

/// Returns the subject of a principal.
///
/// Clients may be able to choose their ids (RFC 9068 §5), so an id of a client must not equal the subject of a user. Therefore a client
/// without a user, or with its own id as `sub`, gets a subject with a prefix that the subject of a user cannot have.
fn subject(sub: Option<&str>, client_id: Option<&str>) -> Result<String, TokenRefusal> {
    let client_id = client_id.filter(|id| !id.is_empty());
    match (sub, client_id) {
        (Some(""), _) | (None, None) => Err(invalid("it does not identify a caller (`sub`, `client_id` or `azp`)")),
        (None, Some(id)) => Ok(format!("{CLIENT_PREFIX}{id}")),
        (Some(sub), Some(id)) if sub == id => Ok(format!("{CLIENT_PREFIX}{id}")),
        (Some(sub), _) if sub.starts_with(CLIENT_PREFIX) => {
            Err(invalid("its `sub` begins with `edge-mcp:client:`, which is reserved for clients"))
        }
        (Some(sub), _) => Ok(sub.to_owned()),
    }
}

/// Returns whether `expires` has passed, with a tolerance for clock skew.
pub(crate) fn has_expired(expires: u64, now: u64) -> bool {
    expires.saturating_add(CLOCK_SKEW_SECONDS) <= now
}

pub(super) fn invalid(detail: &'static str) -> TokenRefusal {
    TokenRefusal::Invalid(detail.into())
}

fn wrong_type(claim: &str) -> TokenRefusal {
    TokenRefusal::Invalid(format!("its `{claim}` has the wrong type").into())
}

/// Reads a `NumericDate` (RFC 7519 §2) in whole seconds.
fn time(claims: &Map<String, Value>, name: &str) -> Result<Option<u64>, TokenRefusal> {
    let Some(value) = claims.get(name) else { return Ok(None) };
    let whole = || value.as_u64();
    // The cast saturates.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let fraction = || value.as_f64().map(|seconds| seconds as u64);
    whole().or_else(fraction).map(Some).ok_or_else(|| wrong_type(name))
}

fn string<'c>(claims: &'c Map<String, Value>, name: &str) -> Result<Option<&'c str>, TokenRefusal> {
    claims.get(name).map(|value| value.as_str().ok_or_else(|| wrong_type(name))).transpose()
}

/// Reads a string or an array of strings.
fn strings<'c>(claims: &'c Map<String, Value>, name: &str) -> Result<Vec<&'c str>, TokenRefusal> {
    match claims.get(name) {
        None => Ok(Vec::new()),
        Some(Value::String(one)) => Ok(vec![one]),
        Some(Value::Array(several)) => {
            let mut strings = Vec::new();
            for one in several {
                strings.push(one.as_str().ok_or_else(|| wrong_type(name))?);
            }
            Ok(strings)
        }
        Some(_) => Err(wrong_type(name)),
    }
}

/// Reads `scope`, a list separated by spaces (RFC 8693 §4.2), or else `scp`, which some large providers use.
fn scopes(claims: &Map<String, Value>) -> Result<Vec<String>, TokenRefusal> {
    let listed = match string(claims, "scope")? {
        Some(scope) => vec![scope],
        None => strings(claims, "scp")?,
    };
    let mut scopes = Vec::new();
    for listed in listed {
        for scope in listed.split(' ').filter(|scope| !scope.is_empty()) {
            scopes.push(scope.to_owned());
        }
    }
    Ok(scopes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scopes_are_separated_by_spaces() {
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
