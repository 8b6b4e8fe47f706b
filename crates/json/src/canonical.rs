//! The canonical form of a value: equal values have the same form, however they are written.
//!
//! Members are sorted by key, numbers are normalized, and strings have no unnecessary escapes. A comma follows every member and item, so
//! the form of an array or object is not JSON.

use std::borrow::Cow;

use super::decimal::{Decimal, is_integer_literal};
use super::document::{Document, Value};
use super::error::JsonLimits;
use super::kind::Kind;
use super::quoted::quoted;

/// Returns the canonical form of a value.
pub fn of(value: Value<'_>) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

/// Returns the canonical form of a JSON text, or the text itself if it is not JSON.
pub fn of_text(json: &str) -> String {
    match Document::parse(json.as_bytes(), JsonLimits::MOST) {
        Ok(document) => of(document.root()),
        Err(_) => json.to_owned(),
    }
}

/// Returns the canonical form if it is a slice of the source text, as for most scalars. Otherwise returns `None`.
pub fn borrowed(value: Value<'_>) -> Option<&str> {
    match value.kind() {
        Kind::Object | Kind::Array => None,
        // A string literal without escapes is canonical.
        Kind::String => Some(value.text()).filter(|_| !value.has_escapes()),
        Kind::Number => borrowed_number(value.text()),
        Kind::Boolean | Kind::Null => Some(value.text()),
    }
}

/// Returns the canonical form of a short number: without trailing zeros in the fraction, as [`Decimal::to_plain_string`] formats it.
/// Returns `None` for a longer number, or for one with an exponent.
fn borrowed_number(number: &str) -> Option<&str> {
    if is_integer_literal(number) {
        return if number == "-0" { number.get(1..) } else { Some(number).filter(|number| number.len() <= 20) };
    }
    // At most 15 digits and a point are not rounded.
    if number.len() > 16 || number.bytes().any(|byte| matches!(byte, b'e' | b'E')) {
        return None;
    }
    let digits = number.trim_end_matches('0').trim_end_matches('.');
    if digits == "-0" { digits.get(1..) } else { Some(digits) }
}

/// Returns the canonical form of a number. A number beyond all exponents has only its own spelling.
pub fn number(number: &str) -> Cow<'_, str> {
    let decimal = Decimal::of(number);
    if decimal.has_exact_exponent() { Cow::Owned(decimal.to_plain_string()) } else { Cow::Borrowed(number) }
}

/// Appends the canonical form of a value to `text`.
pub fn write(value: Value<'_>, text: &mut String) {
    match value.kind() {
        Kind::Object => {
            text.push('{');
            write_members(value, |_, _| true, text);
            text.push('}');
        }
        Kind::Array => {
            text.push('[');
            for item in value.items() {
                write(item, text);
                text.push(',');
            }
            text.push(']');
        }
        kind => match (borrowed(value), kind) {
            (Some(canonical), _) => text.push_str(canonical),
            (None, Kind::String) => text.push_str(&quoted(&value.as_str().unwrap_or_default())),
            // 1, 1.0 and 1e0 are the same number.
            (None, _) => text.push_str(&number(value.text())),
        },
    }
}

/// Appends the members of an object that `is_written` accepts, sorted by key. Keys are unique.
pub fn write_members(object: Value<'_>, is_written: fn(&str, Value<'_>) -> bool, text: &mut String) {
    let mut members = Vec::new();
    for (name, value) in object.members() {
        if is_written(&name, value) {
            // Sort positions instead of values: `uniqueItems` sorts the same type, so the wasm module contains one sort.
            members.push((name, value.position()));
        }
    }
    members.sort_unstable();
    for (name, position) in members {
        match name {
            // A borrowed key has no escapes in the source.
            Cow::Borrowed(name) => text.extend(["\"", name, "\""]),
            Cow::Owned(name) => text.push_str(&quoted(&name)),
        }
        text.push(':');
        write(object.at(position), text);
        text.push(',');
    }
}

#[cfg(test)]
mod tests {
    use super::of_text;

    #[test]
    fn equal_values_have_one_canonical_form() {
        for (one, other) in [
            ("1", "1.0"),
            ("1", "10e-1"),
            ("0", "-0"),
            ("0", "-0.00"),
            ("2.5", "2.500"),
            ("2.5", "25e-1"),
            ("-0.5", "-5e-1"),
            ("0.1", "0.10000000000000000001"),
            ("1", "0.9999999999999999999999"),
            ("0", "1e-400"),
            ("100000000000000000000", "1e20"),
            ("1000000000000000000000", "1e21"),
            ("0.00000000000000000001", "1e-20"),
            ("0.000000000000000000001", "1e-21"),
            (r#""a/b""#, r#""a\/\u0062""#),
            (r#"{"b":[1,2.0],"a":"x"}"#, r#"{ "\u0061": "x", "b": [1.0, 2] }"#),
        ] {
            assert_eq!(of_text(one), of_text(other));
        }
        for (one, other) in [
            ("1", "\"1\""),
            ("9007199254740993", "9007199254740992"),
            ("1e99999999999999999998", "1e99999999999999999999"),
            ("10", "1"),
            ("0.10", "0.01"),
            ("[1]", "[[1]]"),
            ("\"\"", "null"),
            ("[]", "{}"),
        ] {
            assert_ne!(of_text(one), of_text(other));
        }
    }
}
