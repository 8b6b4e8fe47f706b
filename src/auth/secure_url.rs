//! URLs to which tokens and keys may be sent: HTTPS, or localhost.

use std::fmt;

use http::header::{ACCEPT, HeaderValue};
use http::{Method, Request};

use crate::host::{is_local, origin_of};
use crate::text::has_uri_characters;

/// An `https:` URL, or an `http:` URL on localhost. It has no user name and no fragment.
#[derive(Clone, PartialEq, Eq)]
pub struct SecureUrl {
    text: String,
    /// The length of the origin at the start of the text, in bytes.
    origin: usize,
}

impl fmt::Debug for SecureUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl SecureUrl {
    /// Parses a URL and keeps its spelling.
    ///
    /// # Errors
    /// The problem with the URL. The text continues a sentence that begins with the name of the setting.
    ///
    /// ```
    /// use edge_mcp::SecureUrl;
    ///
    /// assert!(SecureUrl::parse("https://example.com/mcp").is_ok());
    /// assert!(SecureUrl::parse("http://localhost:8787/mcp").is_ok());
    /// assert_eq!(SecureUrl::parse("http://example.com"), Err("must be an https: URL, unless it is on localhost"));
    /// ```
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const NOT_A_URL: &str = "must be a URL such as https://example.com/mcp, in ASCII";
        let uri: http::Uri = text.parse().map_err(|_| NOT_A_URL)?;
        let (Some(scheme), Some(authority), true) = (uri.scheme_str(), uri.authority(), has_uri_characters(text))
        else {
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

    /// Returns the URL in its original spelling.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns scheme, host and port in their original spelling.
    pub fn origin(&self) -> &str {
        self.text.get(..self.origin).unwrap_or_default()
    }

    /// Returns the path and the query.
    pub fn path(&self) -> &str {
        self.text.get(self.origin..).unwrap_or_default()
    }

    /// Returns whether the URL has a query.
    pub(crate) fn has_query(&self) -> bool {
        self.text.contains('?')
    }

    /// Creates a request for JSON to this URL.
    pub(crate) fn request(&self, method: Method, body: String) -> Request<String> {
        let mut request = Request::new(body);
        *request.method_mut() = method;
        // `parse` has checked that the text is a `Uri`, so the default is never used.
        *request.uri_mut() = self.text.parse().unwrap_or_default();
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
        request
    }

    /// Returns the URL of a document about this URL: `/.well-known/NAME` between the origin and the path (RFC 8414 §3, RFC 9728 §3.1).
    pub(crate) fn well_known(&self, name: &str) -> String {
        format!("{}/.well-known/{name}{}", self.origin(), self.path().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_and_localhost_urls_are_accepted() {
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

    #[test]
    fn the_well_known_segment_is_between_origin_and_path() {
        for (text, expected) in [
            ("https://a.example/public/mcp", "https://a.example/.well-known/x/public/mcp"),
            ("https://a.example/", "https://a.example/.well-known/x"),
            ("https://a.example", "https://a.example/.well-known/x"),
        ] {
            assert_eq!(SecureUrl::parse(text).expect("a URL").well_known("x"), expected);
        }
    }
}
