//! The one form that all spellings of a value share: members in order, numbers by what they are, strings by what they say.

use std::borrow::Cow;

use super::long::quoted;
use super::{Document, JsonLimits, Kind, Value, is_whole};
use crate::protocol::decimal::Decimal;

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

/// Whether a value that is no array and no object is written in its canonical form already, as far as that is known at once.
pub(crate) fn is_canonical(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::Object | Kind::Array => false,
        // Nothing in it needs an escape, so there is no other way to write it without one.
        Kind::String => !value.is_escaped(),
        Kind::Number => is_plain(value.text()),
        Kind::Boolean | Kind::Null => true,
    }
}

/// Whether a number is written as [`Decimal::shown`] writes it: as an integer of few digits.
fn is_plain(number: &str) -> bool {
    number.len() <= 20 && number != "-0" && is_whole(number)
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
        _ if is_canonical(value) => text.push_str(value.text()),
        Kind::String => text.push_str(&quoted(&value.as_str().unwrap_or_default())),
        // 1, 1.0 and 1e0 are one number.
        Kind::Number => match Decimal::of(value.text()) {
            Some(number) => text.push_str(&number.shown()),
            None => text.push_str(value.text()),
        },
        Kind::Boolean | Kind::Null => text.push_str(value.text()),
    }
}

/// Writes members of an object, in the order of their names: no two have the same.
pub(crate) fn write_members(members: Vec<(Cow<'_, str>, Value<'_>)>, text: &mut String) {
    let (names, values): (Vec<_>, Vec<_>) = members.into_iter().unzip();
    for (name, nth) in in_order(names) {
        let Some(&value) = values.get(nth) else { continue };
        text.push_str(&quoted(&name));
        text.push(':');
        write(value, text);
        text.push(',');
    }
}

/// Names in their order, each with the place that it had.
pub(super) fn in_order(names: Vec<Cow<'_, str>>) -> Vec<(Cow<'_, str>, usize)> {
    let mut names: Vec<_> = names.into_iter().zip(0..).collect();
    names.sort_unstable();
    names
}
