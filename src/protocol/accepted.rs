//! The values that strict clients accept in the content of other servers.
//!
//! The official clients check each member that the specification has, and reject a whole list or result because of one value.

use edge_json::{Kind, Value};
use edge_json_schema::is_date_time;

use super::received::{ANNOTATIONS, META};

/// Returns whether strict clients accept the value of a member.
pub(super) fn is_accepted(name: &str, value: Value<'_>) -> bool {
    CHECKED.iter().all(|(checked, passes)| *checked != name || passes(value))
}

/// Returns whether a browser can decode the text: base64 with or without padding, possibly in lines.
pub(super) fn is_base64(text: &str) -> bool {
    let mut digits = 0_usize;
    let mut rest = text.trim_end_matches(|end: char| end == '=' || end.is_ascii_whitespace()).bytes();
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/".contains(&byte);
    let is_decodable = rest.all(|byte| {
        digits = digits.saturating_add(usize::from(is_digit(byte)));
        is_digit(byte) || byte.is_ascii_whitespace()
    });
    is_decodable && digits % 4 != 1
}

type Test = fn(Value<'_>) -> bool;

/// The members that strict clients check, with their tests. Such a client rejects a whole list or result because of one of them, so a member that
/// does not pass is left out.
const CHECKED: [(&str, Test); 10] = [
    ("title", is_string),
    ("description", is_string),
    ("mimeType", is_string),
    ("size", |size| number(size).is_some_and(|size| size.fract() == 0.0)),
    ("icons", |icons| icons.kind() == Kind::Array && icons.items().all(is_icon)),
    (ANNOTATIONS, |annotations| annotations.kind() == Kind::Object),
    (META, |meta| meta.kind() == Kind::Object),
    ("audience", |roles| roles.kind() == Kind::Array && roles.items().all(is_role)),
    ("priority", |priority| priority_of(priority).is_some()),
    ("lastModified", |time| time.as_str().is_some_and(|time| is_strict_date_time(&time))),
];

fn is_role(role: Value<'_>) -> bool {
    role.is_str("user") || role.is_str("assistant")
}

fn is_string(value: Value<'_>) -> bool {
    value.kind() == Kind::String
}

fn is_icon(icon: Value<'_>) -> bool {
    let is_theme = |theme: Value<'_>| theme.is_str("light") || theme.is_str("dark");
    let are_strings = |sizes: Value<'_>| sizes.kind() == Kind::Array && sizes.items().all(is_string);
    icon.string("src").is_some()
        && icon.get("mimeType").is_none_or(is_string)
        && icon.get("sizes").is_none_or(are_strings)
        && icon.get("theme").is_none_or(is_theme)
}

fn number(value: Value<'_>) -> Option<f64> {
    Some(value).filter(|value| value.kind() == Kind::Number)?.to_json()?.as_f64()
}

/// Returns a priority from 0 to 1.
pub(super) fn priority_of(priority: Value<'_>) -> Option<f64> {
    number(priority).filter(|priority| (0.0..=1.0).contains(priority))
}

/// Returns whether a text is a date and a time as strict clients require it: with capital letters, and without a leap second.
fn is_strict_date_time(text: &str) -> bool {
    is_date_time(text) && !text.contains(['t', 'z']) && text.get(17..19) != Some("60")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_form_that_strict_clients_accept() {
        for time in [
            "2026-07-28T12:00:00Z",
            "2024-02-29T23:59:59.123456+05:30",
            "2000-02-29T00:00:00-00:00",
            "0000-12-31T00:00:00.0Z",
        ] {
            assert!(is_strict_date_time(time), "{time}");
        }
        for time in [
            "",
            "2026-07-28",
            "2026-07-28T12:00:00",
            "2026-07-28T12:00Z",
            "2026-07-28 12:00:00Z",
            "2026-07-28t12:00:00z",
            "2026-02-29T12:00:00Z",
            "1900-02-29T12:00:00Z",
            "2026-04-31T12:00:00Z",
            "2026-13-01T12:00:00Z",
            "2026-00-01T12:00:00Z",
            "2026-07-28T24:00:00Z",
            "2026-07-28T12:00:60Z",
            "2026-07-28T12:00:00.Z",
            "2026-07-28T12:00:00+5:30",
            "2026-07-28T12:00:00+05:30:00",
            "2026-07-28T12:00:00ZZ",
            "+026-07-28T12:00:00Z",
            "2026-07-28-01T12:00:00Z",
        ] {
            assert!(!is_strict_date_time(time), "{time}");
        }
    }

    #[test]
    fn base64_has_the_form_that_browsers_decode() {
        for text in ["", "AA==", "AA", "AAA=", "AAAA", "iVBOR\nw0KGgo=\n", "AB=="] {
            assert!(is_base64(text), "{text:?}");
        }
        for text in ["A", "AAAAA", "_-8=", "!!!!", "AA=A", "data:image/png;base64,AA=="] {
            assert!(!is_base64(text), "{text:?}");
        }
    }
}
