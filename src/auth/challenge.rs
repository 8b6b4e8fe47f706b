//! The `WWW-Authenticate` header, for responses to callers without sufficient authorization.
//!
//! Source: RFC 6750 §3; RFC 9728 §5.1; 2026-07-28, basic/authorization, "Protected Resource Metadata Discovery Requirements" and
//! "Runtime Insufficient Scope".

use http::header::HeaderValue;

/// A `Bearer` challenge. Each parameter is a quoted string, and its value is escaped so that it cannot end the string or the header.
#[derive(Debug, Default)]
pub(crate) struct Challenge(String);

impl Challenge {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a parameter. A character that headers cannot contain becomes `?`.
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.0.push_str(if self.0.is_empty() { " " } else { ", " });
        self.0.push_str(name);
        self.0.push_str("=\"");
        for character in value.chars() {
            match character {
                '"' | '\\' => self.0.extend(['\\', character]),
                ' '..='~' => self.0.push(character),
                _ => self.0.push('?'),
            }
        }
        self.0.push('"');
        self
    }

    /// Adds a parameter if it has a value.
    pub(crate) fn with_some(self, name: &'static str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    pub(crate) fn into_value(self) -> HeaderValue {
        // The text is printable ASCII, so the fallback is never used.
        HeaderValue::from_str(&format!("Bearer{}", self.0)).unwrap_or(HeaderValue::from_static("Bearer"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value cannot end its quoted string, its parameter or the header.
    #[test]
    fn values_are_escaped() {
        assert_eq!(Challenge::new().into_value(), "Bearer");
        for (value, expected) in [
            ("plain", r#"Bearer a="plain", b="c""#),
            ("", r#"Bearer a="", b="c""#),
            (r#"x", error="none"#, r#"Bearer a="x\", error=\"none", b="c""#),
            (r"ends\", r#"Bearer a="ends\\", b="c""#),
            ("a\r\nSet-Cookie: x", r#"Bearer a="a??Set-Cookie: x", b="c""#),
            ("na\u{ef}ve \u{1f600}\0\u{7f}", r#"Bearer a="na?ve ???", b="c""#),
        ] {
            assert_eq!(Challenge::new().with("a", value).with_some("b", Some("c")).into_value(), expected);
        }
        let long = "x".repeat(10_000);
        assert_eq!(Challenge::new().with("a", &long).with_some("b", None).into_value().len(), 10_011);
    }
}
