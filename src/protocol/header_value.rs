//! The encoding of header values that are not ASCII.
//!
//! A header repeats a value of the body unchanged if the value is printable ASCII. Otherwise, the header has the form `=?base64?…?=`.
//!
//! Source: 2026-07-28, basic/transports/streamable-http, "Value Encoding".

use std::borrow::Cow;

use crate::base64::STANDARD;

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// The error for a value that is marked as base64 but is invalid: wrong alphabet or padding, nonzero trailing bits, or not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadEncoding;

/// Decodes a header value. Surrounding spaces and tabs are ignored. A value that does not have the form `=?base64?…?=` is not decoded.
///
/// # Errors
/// [`BadEncoding`] if a value of this form is invalid.
///
/// ```
/// use edge_mcp::parsers::{BadEncoding, decode};
///
/// assert_eq!(decode("get-weather").as_deref(), Ok("get-weather"));
/// assert_eq!(decode("=?base64?Y2Fmw6k=?=").as_deref(), Ok("café"));
/// assert_eq!(decode("=?base64?Y2Fmw6k?="), Err(BadEncoding));
/// ```
pub fn decode(value: &str) -> Result<Cow<'_, str>, BadEncoding> {
    let value = value.trim_matches([' ', '\t']);
    let Some(encoded) = value.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX)) else {
        return Ok(Cow::Borrowed(value));
    };
    let bytes = STANDARD.decode(encoded).ok_or(BadEncoding)?;
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| BadEncoding)
}

/// Encodes a value for a header: unchanged if it is visible ASCII without spaces at its ends, and as base64 otherwise.
pub(crate) fn encode(value: &str) -> Cow<'_, str> {
    let is_plain = !value.is_empty()
        && value.trim_matches(' ') == value
        && value.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
        && !(value.starts_with(PREFIX) && value.ends_with(SUFFIX));
    if is_plain { Cow::Borrowed(value) } else { Cow::Owned(format!("{PREFIX}{}{SUFFIX}", STANDARD.encode(value))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rule 34: a value with the prefix `=?base64?` and the suffix `?=` is decoded before it is compared. Prefix and suffix are
    /// case-sensitive.
    #[test]
    fn marked_values_are_decoded() {
        for (value, expected) in [
            ("plain", Ok("plain")),
            (" \tplain\t ", Ok("plain")),
            ("", Ok("")),
            ("=?base64??=", Ok("")),
            ("=?base64?=", Ok("=?base64?=")),
            ("=?base64?YQ==", Ok("=?base64?YQ==")),
            ("YQ==?=", Ok("YQ==?=")),
            ("=?BASE64?YQ==?=", Ok("=?BASE64?YQ==?=")),
            ("=?base64?YQ==?=", Ok("a")),
            ("=?base64?5pel5pys?=", Ok("日本")),
            ("=?base64?YQ?=", Err(BadEncoding)),
            ("=?base64?YQ=?=", Err(BadEncoding)),
            ("=?base64?YR==?=", Err(BadEncoding)),
            ("=?base64?Y*==?=", Err(BadEncoding)),
            ("=?base64?_-==?=", Err(BadEncoding)),
            ("=?base64?/w==?=", Err(BadEncoding)),
            ("=?base64? YQ==?=", Err(BadEncoding)),
        ] {
            assert_eq!(decode(value).as_deref(), expected.as_ref().map(|text| *text), "{value:?}");
        }
    }
}
