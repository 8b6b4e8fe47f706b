//! Encoding and decoding of values. Invalid values are rejected in both directions.

use percent_encoding::{percent_decode_str, percent_encode_byte};

use super::error::InvalidVariable;
use super::operator::{Allow, Operator};

/// Decodes a value. Returns `None` if it is invalid.
pub(super) fn decode(operator: &Operator, text: &str) -> Option<String> {
    if !escapes_are_whole(text) {
        return None;
    }
    let value = percent_decode_str(text).decode_utf8().ok()?;
    problem(operator, &value).is_none().then(|| value.into_owned())
}

/// Appends the encoded value to `uri` (RFC 6570 §3.2.1). Call [`problem`] first: this function does not check the value.
pub(super) fn encode(allow: Allow, value: &str, uri: &mut String) {
    for byte in value.bytes() {
        if allow.holds(byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(percent_encode_byte(byte));
        }
    }
}

/// Returns the reason why the operator does not allow the value, or `None` if it is allowed.
pub(super) fn problem(operator: &Operator, value: &str) -> Option<InvalidVariable> {
    if value.is_empty() {
        return (!operator.named).then_some(InvalidVariable::Empty);
    }
    if value.contains('\0') {
        return Some(InvalidVariable::Nul);
    }
    // The value may become a part of a path, in which the WHATWG URL parser treats `\` as `/`.
    if value.split(['/', '\\']).any(|segment| matches!(segment, "." | "..")) {
        return Some(InvalidVariable::DotSegment);
    }
    let has_escape = || value.split('%').skip(1).any(begins_escape);
    (operator.allow == Allow::UR && has_escape()).then_some(InvalidVariable::Escape)
}

/// Returns whether every `%` starts an escape.
pub(super) fn escapes_are_whole(text: &str) -> bool {
    text.split('%').skip(1).all(begins_escape)
}

/// Returns whether the text after a `%` starts with two hexadecimal digits.
pub(super) fn begins_escape(after: &str) -> bool {
    let mut digits = after.bytes().take(2).filter(u8::is_ascii_hexdigit);
    digits.next().is_some() && digits.next().is_some()
}
