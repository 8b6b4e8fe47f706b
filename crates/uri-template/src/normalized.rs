//! The normal form of a URI. Different spellings of the same URI have the same normal form.
//!
//! Source: RFC 3986 §6.2.2.1 and §6.2.2.2, RFC 3987 §3.1.

use std::borrow::Cow;

use percent_encoding::{percent_decode, percent_encode_byte};

use super::operator::Allow;

/// Returns `uri` in normal form. Two URIs with the same normal form name the same resource.
///
/// - An escape of an unreserved character becomes the character: `%61` is `a`.
/// - Other escapes get upper-case digits: `%2f` is `%2F`, which differs from `/`.
/// - A character that is not allowed in a URI becomes an escape of its UTF-8 bytes: `é` is `%C3%A9`. The same applies to a `%`
///   that does not start an escape.
///
/// Case is significant everywhere, including the scheme and the host: many servers have an identifier in the place of the host, as in
/// `note://Ab3x`.
///
/// A URI in normal form is returned without an allocation.
pub fn normalized(uri: &str) -> Cow<'_, str> {
    if is_normal(uri.as_bytes()) {
        return Cow::Borrowed(uri);
    }
    let mut normal = String::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let Some(byte) = percent_decode(rest).next() {
        let digits = rest.strip_prefix(b"%").and_then(|after| after.get(..2));
        let is_escape = digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let is_literal = if is_escape { Allow::U.holds(byte) } else { Allow::UR.holds(byte) };
        if is_literal {
            normal.push(char::from(byte));
        } else {
            normal.push_str(percent_encode_byte(byte));
        }
        rest = rest.get(if is_escape { 3 } else { 1 }..).unwrap_or_default();
    }
    Cow::Owned(normal)
}

/// Returns whether a URI has only allowed characters and normal escapes. A normal escape has upper-case digits, and its character is not
/// unreserved.
fn is_normal(mut uri: &[u8]) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'A'..=b'F');
    loop {
        uri = match uri {
            [] => return true,
            [b'%', high, low, rest @ ..] if is_digit(*high) && is_digit(*low) => {
                if percent_decode(&[b'%', *high, *low]).next().is_none_or(|byte| Allow::U.holds(byte)) {
                    return false;
                }
                rest
            }
            [byte, rest @ ..] if Allow::UR.holds(*byte) => rest,
            _ => return false,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_uri_have_one_normal_form() {
        for (uri, normal) in [
            ("kb://documents/payroll", "kb://documents/payroll"),
            ("kb://documents/%70ayroll", "kb://documents/payroll"),
            ("kb://documents/%70%61%79%72%6F%6c%6C", "kb://documents/payroll"),
            ("kb%3A//x", "kb%3A//x"),
            ("kb://%41%5a%30%2d%2E%5f%7e", "kb://AZ0-._~"),
            // Reserved characters and their escapes differ.
            ("kb://a%2fb", "kb://a%2Fb"),
            ("kb://a/b", "kb://a/b"),
            ("kb://a%3fb%23c", "kb://a%3Fb%23c"),
            // Each escape is decoded once.
            ("kb://%2570", "kb://%2570"),
            ("kb://%25%37%30", "kb://%2570"),
            // A `%` that does not start an escape.
            ("kb://100%", "kb://100%25"),
            ("kb://%4", "kb://%254"),
            ("kb://%zz%+1", "kb://%25zz%25+1"),
            ("kb://%%361", "kb://%2561"),
            // Characters that are not allowed in a URI.
            ("kb://é", "kb://%C3%A9"),
            ("kb://%c3%a9", "kb://%C3%A9"),
            ("kb://a b\"<>\\^`{|}\0", "kb://a%20b%22%3C%3E%5C%5E%60%7B%7C%7D%00"),
            // Case is significant.
            ("KB://Documents/A", "KB://Documents/A"),
            ("", ""),
        ] {
            assert_eq!(normalized(uri), normal, "{uri}");
            assert!(matches!(normalized(normal), Cow::Borrowed(same) if same == normal), "{normal} is not copied");
        }
    }
}
