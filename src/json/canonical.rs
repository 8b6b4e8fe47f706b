//! The one form that all spellings of a value share: members in order, numbers by what they are, strings by what they say.

use std::borrow::Cow;

use super::long::quoted;
use super::{Document, JsonLimits, Kind, Value, is_whole};
use crate::json::decimal::Decimal;

/// The canonical form of a value.
pub(crate) fn of(value: Value<'_>) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

/// The canonical form of a value as text; of what is no JSON, the text itself.
pub(crate) fn of_text(json: &str) -> String {
    match Document::parse(json.as_bytes(), JsonLimits::MOST) {
        Ok(document) => of(document.root()),
        Err(_) => json.to_owned(),
    }
}

/// The canonical form of a value, if it is a part of its text: that of most which are no arrays and no objects.
pub(crate) fn within(value: Value<'_>) -> Option<&str> {
    match value.kind() {
        Kind::Object | Kind::Array => None,
        // Nothing in it needs an escape, so there is no other way to write it without one.
        Kind::String => Some(value.text()).filter(|_| !value.is_escaped()),
        Kind::Number => within_number(value.text()),
        Kind::Boolean | Kind::Null => Some(value.text()),
    }
}

/// A number of few digits and without an exponent, as [`Decimal::shown`] writes it: without zeros at the end of a fraction.
fn within_number(number: &str) -> Option<&str> {
    if number.len() > 20 {
        return None;
    }
    if is_whole(number) {
        return if number == "-0" { number.get(1..) } else { Some(number) };
    }
    if number.bytes().any(|byte| matches!(byte, b'e' | b'E')) {
        return None;
    }
    let digits = number.trim_end_matches('0').trim_end_matches('.');
    if digits == "-0" { digits.get(1..) } else { Some(digits) }
}

/// Writes the canonical form of a value.
pub(crate) fn write(value: Value<'_>, text: &mut String) {
    match value.kind() {
        Kind::Object => {
            text.push('{');
            write_members(value.members().collect(), text);
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
        kind => match (within(value), kind) {
            (Some(canonical), _) => text.push_str(canonical),
            (None, Kind::String) => text.push_str(&quoted(&value.as_str().unwrap_or_default())),
            // 1, 1.0 and 1e0 are one number.
            (None, _) => match Decimal::of(value.text()) {
                Some(number) => text.push_str(&number.shown()),
                None => text.push_str(value.text()),
            },
        },
    }
}

/// Writes members of an object, in the order of their names: no two have the same.
pub(crate) fn write_members(mut members: Vec<(Cow<'_, str>, Value<'_>)>, text: &mut String) {
    members.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    for (name, value) in members {
        match name {
            // It stands in its text without an escape.
            Cow::Borrowed(name) => text.extend(["\"", name, "\""]),
            Cow::Owned(name) => text.push_str(&quoted(&name)),
        }
        text.push(':');
        write(value, text);
        text.push(',');
    }
}

#[cfg(test)]
mod tests {
    use super::of_text;

    #[test]
    fn spellings_of_one_value_have_one_form() {
        for (one, other) in [
            ("1", "1.0"),
            ("1", "10e-1"),
            ("0", "-0"),
            ("0", "-0.00"),
            ("2.5", "2.500"),
            ("2.5", "25e-1"),
            ("-0.5", "-5e-1"),
            ("100000000000000000000", "1e20"),
            ("1000000000000000000000", "1e21"),
            ("0.00000000000000000001", "1e-20"),
            ("0.000000000000000000001", "1e-21"),
            (r#""a/b""#, r#""a\/\u0062""#),
            (r#"{"b":[1,2.0],"a":"x"}"#, r#"{ "\u0061": "x", "b": [1.0, 2] }"#),
        ] {
            assert_eq!(of_text(one), of_text(other));
        }
        for (one, other) in
            [("1", "\"1\""), ("10", "1"), ("0.10", "0.01"), ("[1]", "[[1]]"), ("\"\"", "null"), ("[]", "{}")]
        {
            assert_ne!(of_text(one), of_text(other));
        }
    }
}
