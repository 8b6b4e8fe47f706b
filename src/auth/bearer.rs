//! The `Authorization` header.
//!
//! Source: RFC 6750 §2.1, RFC 9110 §11.4.

/// The header is there, but names no single token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The bearer token that `header` carries.
///
/// No header and another scheme are `Ok(None)`: the caller has sent no token. The scheme's case does not matter.
///
/// # Errors
/// [`Malformed`] for `Bearer` without a token, with two (also as two headers, which arrive joined by a comma), or with
/// characters that a token cannot have.
///
/// ```
/// use edge_mcp::auth::bearer::{Malformed, token};
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

/// What a token may look like: `b64token` of RFC 6750 §2.1, and with colons, by which some issuers divide theirs.
pub fn is_token(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    !body.is_empty() && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/:".contains(&byte))
}

/// Whether the query of a URL has an `access_token`: what is in a URL is in logs and histories, so that it is no place for one
/// (2026-07-28, basic/authorization, "Token Requirements").
///
/// ```
/// use edge_mcp::auth::bearer::is_in_query;
///
/// assert!(is_in_query("https://example.com/mcp?a=b&access%5Ftoken=s3cret"));
/// assert!(!is_in_query("https://example.com/mcp?q=access_token"));
/// ```
pub fn is_in_query(url: &str) -> bool {
    let query = url.split('#').next().and_then(|url| url.split_once('?')).map_or("", |(_, query)| query);
    form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == "access_token")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rule 106: what is no well-formed authorization is told apart from none at all.
    #[test]
    fn a_header_has_one_token_or_none() {
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
