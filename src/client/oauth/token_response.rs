//! The answer of a token endpoint.
//!
//! Source: RFC 6749 §5; RFC 6750 §4; RFC 9449 §5.

use edge_json::{Document, JsonLimits, Kind, Value};
use http::HeaderValue;

use super::error::OAuthError;
use crate::client::wire::challenge::is_scope;
use crate::client::wire::headers;
use crate::host::Fetched;
use crate::limits::{UPSTREAM_TOKEN_BYTES, UPSTREAM_TOKEN_EARLY_SECONDS};
use crate::text::for_log;

/// A token that a token endpoint issues.
pub(in crate::client) struct TokenResponse {
    /// The value of the `Authorization` header with the access token.
    pub header: HeaderValue,
    /// The lifetime of the access token in seconds, if the authorization server states it.
    expires_in: Option<u64>,
    pub refresh_token: Option<String>,
    /// The scopes of the token, if they are not the requested ones.
    scope: Option<String>,
}

impl TokenResponse {
    /// Reads the answer of a token endpoint.
    ///
    /// # Errors
    /// The answer is an error, or has no bearer token.
    pub(in crate::client) fn read(answer: &Fetched) -> Result<Self, OAuthError> {
        let document = Document::parse(&answer.body, JsonLimits::default()).ok();
        let object = document.as_ref().map(Document::root).filter(|root| root.kind() == Kind::Object);
        if answer.status != 200 || object.is_some_and(|object| object.get("error").is_some()) {
            let (reason, description) = rejection(answer.status, object);
            return Err(OAuthError::Rejected { reason, description });
        }
        let object = object.ok_or(OAuthError::InvalidAnswer("sent an answer that is not a JSON object"))?;
        let token_type = object.string("token_type").unwrap_or_default();
        if token_type.eq_ignore_ascii_case("dpop") {
            return Err(OAuthError::DpopRequired);
        }
        if !token_type.eq_ignore_ascii_case("bearer") {
            return Err(OAuthError::InvalidAnswer("issued a token that is not a bearer token"));
        }
        let token = object.string("access_token").filter(|token| token.len() <= UPSTREAM_TOKEN_BYTES);
        let header = token.and_then(|token| headers::bearer(&token));
        let header = header.ok_or(OAuthError::InvalidAnswer("issued a token that no header can contain"))?;
        Ok(Self {
            header,
            expires_in: expires_in(object)?,
            refresh_token: text(object, "refresh_token"),
            scope: text(object, "scope"),
        })
    }
}

impl TokenResponse {
    /// Returns the scopes of the token, if they are not the requested ones.
    pub(in crate::client) fn scopes(&self) -> Option<Vec<String>> {
        let scope = self.scope.as_deref()?;
        Some(scope.split(' ').filter(|scope| is_scope(scope)).map(str::to_owned).collect())
    }

    /// Returns the value of the `Authorization` header as text.
    pub(in crate::client) fn authorization(&self) -> String {
        self.header.to_str().unwrap_or_default().to_owned()
    }

    /// Returns the lifetime of the access token in seconds. If the authorization server does not state it, the lifetime is `unstated`.
    pub(in crate::client) fn lifetime(&self, unstated: u64) -> u64 {
        self.expires_in.unwrap_or(unstated)
    }
}

/// Returns the time until which a token with a lifetime in seconds is used, in milliseconds since 1970.
pub(in crate::client) fn used_until(now_ms: u64, lifetime: u64) -> u64 {
    after(now_ms, lifetime.saturating_sub(UPSTREAM_TOKEN_EARLY_SECONDS).max(lifetime / 2).max(1))
}

/// Returns the time in some seconds, in milliseconds since 1970.
pub(in crate::client) fn after(now_ms: u64, seconds: u64) -> u64 {
    now_ms.saturating_add(seconds.saturating_mul(1000))
}

/// Returns the lifetime of a token in seconds: an integer, or digits in a string.
fn expires_in(answer: Value<'_>) -> Result<Option<u64>, OAuthError> {
    let Some(expires_in) = answer.get("expires_in").filter(|value| value.kind() != Kind::Null) else {
        return Ok(None);
    };
    let text = expires_in.as_str().map_or_else(|| expires_in.text().to_owned(), Into::into);
    let problem = "issued a token whose lifetime is not a number of seconds";
    text.parse().map(Some).map_err(|_| OAuthError::InvalidAnswer(problem))
}

/// Returns an optional member, if it is printable ASCII (RFC 6749, appendix A) and not too long. A client without use for the member ignores
/// it, so one that is not valid is no error.
pub(super) fn text(answer: Value<'_>, name: &str) -> Option<String> {
    let is_printable = |text: &str| text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    answer.string(name).filter(|text| !text.is_empty() && text.len() <= UPSTREAM_TOKEN_BYTES && is_printable(text))
}

/// Returns the reason of an answer that is an error, and its description for the log. The reason is an error code or the status.
pub(super) fn rejection(status: u16, answer: Option<Value<'_>>) -> (String, String) {
    let reason = answer.and_then(error_code).unwrap_or_else(|| format!("status {status}"));
    let description = answer.and_then(|answer| answer.string("error_description"));
    (reason, for_log(&description.unwrap_or_default()))
}

/// Returns the error code of an answer, if it has the form of a code.
fn error_code(answer: Value<'_>) -> Option<String> {
    const LONGEST: usize = 40;
    answer.get("error")?;
    let code = answer.string("error").unwrap_or_default();
    let is_code =
        |code: &str| code.len() <= LONGEST && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    Some(Some(code).filter(|code| !code.is_empty() && is_code(code)).unwrap_or_else(|| "an unknown error".to_owned()))
}
