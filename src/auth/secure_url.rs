//! URLs that tokens and keys may be sent to: HTTPS, or the user's own machine.

use std::fmt;

use crate::host::{is_local, origin_of};

/// An `https:` URL, or an `http:` one of the user's own machine. It has no user name and no fragment.
#[derive(Clone, PartialEq, Eq)]
pub struct SecureUrl {
    text: String,
    origin: usize,
}

impl fmt::Debug for SecureUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl SecureUrl {
    /// Reads a URL, which is kept as it is written.
    ///
    /// # Errors
    /// What is wrong with it, to follow the name of the setting that it is in.
    ///
    /// ```
    /// use edge_mcp::auth::SecureUrl;
    ///
    /// assert!(SecureUrl::parse("https://example.com/mcp").is_ok());
    /// assert!(SecureUrl::parse("http://localhost:8787/mcp").is_ok());
    /// assert_eq!(SecureUrl::parse("http://example.com"), Err("must be an https: URL, unless it is on localhost"));
    /// ```
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const NOT_A_URL: &str = "must be a URL such as https://example.com/mcp, in ASCII";
        let well_formed = text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\<>^`{|}".contains(&byte));
        let uri: http::Uri = text.parse().map_err(|_| NOT_A_URL)?;
        let (Some(scheme), Some(authority), true) = (uri.scheme_str(), uri.authority(), well_formed) else {
            return Err(NOT_A_URL);
        };
        if authority.host().is_empty() || authority.as_str().contains('@') {
            return Err("must be a URL with a host, and without a user name");
        }
        if text.contains('#') {
            return Err("must be a URL without a fragment");
        }
        let is_secure =
            scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http") && is_local(authority.host());
        if !is_secure {
            return Err("must be an https: URL, unless it is on localhost");
        }
        let origin = origin_of(text).ok_or(NOT_A_URL)?.len();
        Ok(Self { text: text.to_owned(), origin })
    }

    /// The URL as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Scheme, host and port, as they were written.
    pub fn origin(&self) -> &str {
        self.text.get(..self.origin).unwrap_or_default()
    }

    /// What follows the origin: the path and the query.
    pub fn path(&self) -> &str {
        self.text.get(self.origin..).unwrap_or_default()
    }

    /// Whether the URL has a query.
    pub(crate) fn has_query(&self) -> bool {
        self.text.contains('?')
    }

    /// The URL of a document about this one: `/.well-known/NAME` between the origin and the path (RFC 8414 §3, RFC 9728
    /// §3.1).
    pub(crate) fn well_known(&self, name: &str) -> String {
        format!("{}/.well-known/{name}{}", self.origin(), self.path().trim_end_matches('/'))
    }

    /// Whether `other` names the same thing: the case of scheme and host, a port that goes without saying, one slash at the end
    /// and a fragment make no difference.
    pub(crate) fn is_same_as(&self, other: &str) -> bool {
        canonical(&self.text) == canonical(other)
    }
}

fn canonical(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let origin = origin_of(url).unwrap_or_default();
    let rest = url.get(origin.len()..).unwrap_or_default();
    let origin = origin.to_ascii_lowercase();
    let port = if origin.starts_with("https:") { ":443" } else { ":80" };
    format!("{}{}", origin.strip_suffix(port).unwrap_or(&origin), rest.strip_suffix('/').unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_and_the_own_machine() {
        for (text, passes) in [
            ("https://example.com", true),
            ("https://example.com:8443/a/b?c=d", true),
            ("HTTPS://Example.com/mcp/", true),
            ("http://localhost:8787/mcp", true),
            ("http://127.0.0.1/", true),
            ("http://[::1]:1/", true),
            ("http://example.com/", false),
            ("http://localhost.example.com/", false),
            ("http://localhost@example.com/", false),
            ("https://user:secret@example.com/", false),
            ("https://example.com/#top", false),
            ("https://exämple.com/", false),
            ("https://example.com/\u{e9}", false),
            ("https://example.com/a b", false),
            ("https://example.com/\r\nX: y", false),
            ("https://example.com/\"", false),
            ("https:///mcp", false),
            ("ftp://example.com/", false),
            ("example.com/mcp", false),
            ("/mcp", false),
            ("", false),
        ] {
            assert_eq!(SecureUrl::parse(text).is_ok(), passes, "{text:?}");
        }
    }

    /// Rule 103: an audience is this server, however it is spelled, and nothing else.
    #[test]
    fn one_thing_has_many_spellings() {
        let url = SecureUrl::parse("https://kb.example.com/mcp").expect("a URL");
        for (other, same) in [
            ("https://kb.example.com/mcp", true),
            ("https://kb.example.com/mcp/", true),
            ("HTTPS://KB.Example.com/mcp", true),
            ("https://kb.example.com:443/mcp#x", true),
            ("https://kb.example.com/MCP", false),
            ("https://kb.example.com/mcp//", false),
            ("https://kb.example.com/mcp/x", false),
            ("https://kb.example.com", false),
            ("https://kb.example.com:8443/mcp", false),
            ("http://kb.example.com/mcp", false),
            ("https://kb.example.com.evil.example/mcp", false),
            ("https://evil.example/?https://kb.example.com/mcp", false),
            ("kb.example.com/mcp", false),
            ("", false),
        ] {
            assert_eq!(url.is_same_as(other), same, "{other:?}");
        }
    }

    #[test]
    fn documents_about_a_url_are_beside_its_origin() {
        for (text, expected) in [
            ("https://a.example/public/mcp", "https://a.example/.well-known/x/public/mcp"),
            ("https://a.example/", "https://a.example/.well-known/x"),
            ("https://a.example", "https://a.example/.well-known/x"),
        ] {
            assert_eq!(SecureUrl::parse(text).expect("a URL").well_known("x"), expected);
        }
    }
}
