//! The value of a variable: how it is written in a URI, and what is not let through in either direction.

use percent_encoding::{percent_decode_str, percent_encode_byte};

use super::error::Refusal;
use super::operator::{Allow, Operator};

/// The value that was written as `text`.
pub(super) fn decode(operator: &Operator, text: &str) -> Option<String> {
    if !escapes_are_whole(text) {
        return None;
    }
    let value = percent_decode_str(text).decode_utf8().ok()?;
    refusal(operator, &value).is_none().then(|| value.into_owned())
}

/// Writes `value` at the end of `uri` (RFC 6570 §3.2.1). It must not be one that is [refused](refusal).
pub(super) fn encode(allow: Allow, value: &str, uri: &mut String) {
    for byte in value.bytes() {
        if allow.holds(byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(percent_encode_byte(byte));
        }
    }
}

/// Why the operator may not have this value.
pub(super) fn refusal(operator: &Operator, value: &str) -> Option<Refusal> {
    if value.is_empty() {
        return (!operator.named).then_some(Refusal::Empty);
    }
    if value.contains('\0') {
        return Some(Refusal::Nul);
    }
    // Any operator's value may be put into a path, and the URL parser of the web takes `\` for `/` there.
    if value.split(['/', '\\']).any(|segment| matches!(segment, "." | "..")) {
        return Some(Refusal::DotSegment);
    }
    let has_escape = || value.split('%').skip(1).any(begins_escape);
    (operator.allow == Allow::UR && has_escape()).then_some(Refusal::Escape)
}

/// Whether each `%` has its two digits.
pub(super) fn escapes_are_whole(text: &str) -> bool {
    text.split('%').skip(1).all(begins_escape)
}

/// Whether what follows a `%` makes it an escape.
pub(super) fn begins_escape(after: &str) -> bool {
    let mut digits = after.bytes().take(2).filter(u8::is_ascii_hexdigit);
    digits.next().is_some() && digits.next().is_some()
}
