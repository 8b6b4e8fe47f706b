//! The `Authorization` header.
//!
//! Source: RFC 6750 §2.1, RFC 9110 §11.4.

use crate::host::query_of;

/// The error for an `Authorization` header with the scheme `Bearer` that does not have exactly one token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// Returns the bearer token of an `Authorization` header.
///
/// Returns `Ok(None)` without a header and for another scheme, because the caller did not send a bearer token. Schemes are
/// case-insensitive.
///
/// # Errors
/// [`Malformed`] if there is no token after `Bearer`, if there are several tokens, or if a token has an invalid character. Two headers
/// arrive joined by a comma, so they are malformed too.
///
/// ```
/// use edge_mcp::parsers::{Malformed, token};
///
/// assert_eq!(token(Some("Bearer s3cret")), Ok(Some("s3cret")));
/// assert_eq!(token(Some("Basic czNjcmV0")), Ok(None));
/// assert_eq!(token(Some("Bearer one, Bearer two")), Err(Malformed));
/// ```
pub fn token(header: Option<&str>) -> Result<Option<&str>, Malformed> {
    let Some(header) = header else { return Ok(None) };
    let header = header.trim_matches([' ', '\t']);
    let (scheme, token) = header.split_once(' ').unwrap_or((header, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Ok(None);
    }
    let token = token.trim_start_matches(' ');
    if is_token(token) { Ok(Some(token)) } else { Err(Malformed) }
}

/// Returns whether `text` has the form of a token: `b64token` of RFC 6750 §2.1. Colons are allowed too, because some issuers use them.
pub fn is_token(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    !body.is_empty() && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/:".contains(&byte))
}

/// Returns whether the query of a URL has the parameter `access_token`. Such tokens are rejected, because URLs end up in logs and
/// histories (2026-07-28, basic/authorization, "Token Requirements").
///
/// ```
/// use edge_mcp::parsers::is_in_query;
///
/// assert!(is_in_query("https://example.com/mcp?a=b&access%5Ftoken=s3cret"));
/// assert!(!is_in_query("https://example.com/mcp?q=access_token"));
/// ```
pub fn is_in_query(url: &str) -> bool {
    form_urlencoded::parse(query_of(url).as_bytes()).any(|(name, _)| name == "access_token")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rule 106: a malformed header is an error, and a missing header is not.
    #[test]
    fn malformed_headers_are_rejected() {
        for (header, expected) in [
            (None, Ok(None)),
            (Some(""), Ok(None)),
            (Some("Basic YTpi"), Ok(None)),
            (Some("bearerX"), Ok(None)),
            (Some("Bearer abc-._~+/=="), Ok(Some("abc-._~+/=="))),
            (Some("bEaReR   abc \t"), Ok(Some("abc"))),
            (Some("Bearer user:grant:secret"), Ok(Some("user:grant:secret"))),
            (Some("Bearer"), Err(Malformed)),
            (Some("Bearer "), Err(Malformed)),
            (Some("Bearer ="), Err(Malformed)),
            (Some("Bearer a b"), Err(Malformed)),
            (Some("Bearer a,Bearer b"), Err(Malformed)),
            (Some("Bearer a=b"), Err(Malformed)),
            (Some("Bearer \u{e9}"), Err(Malformed)),
            (Some("Bearer \"a\""), Err(Malformed)),
        ] {
            assert_eq!(token(header), expected, "{header:?}");
        }
    }
}
