//! The arguments of a call as a person sees them before approval.
//!
//! The caller chooses the spelling and the length of the arguments. So they are written anew, without white space between tokens, and the
//! members of an object share the space: a long member does not push another one out of the question.

use std::borrow::Cow;
use std::fmt::Write;

use crate::json::{Kind, Value};
use crate::text::is_deceptive;

/// A member or an item is not shortened to fewer characters. If there are too many of them, the last ones are left out.
const SHORTEST: usize = 32;
/// The characters of a shortened member that its name does not use.
const VALUE: usize = 10;

/// Returns a value as JSON on one line, of about `most` characters. An ellipsis outside of quotes shows that something is left out.
pub(super) fn shown(value: Value<'_>, most: usize) -> String {
    let (start, end) = match value.kind() {
        Kind::Object => ('{', '}'),
        Kind::Array => ('[', ']'),
        Kind::String => return quoted(&value.as_str().unwrap_or_default(), most),
        Kind::Null | Kind::Boolean | Kind::Number => return cut(value.text(), most),
    };
    let mut text = String::from(start);
    let is_whole = length(value, most) <= most;
    let count = if is_whole { usize::MAX } else { most.checked_div(SHORTEST).unwrap_or_default() };
    let shown: Vec<_> = parts(value).take(count).collect();
    let mut lengths: Vec<_> = shown.iter().map(|(name, value)| length_of_part(name.as_deref(), *value, most)).collect();
    lengths.sort_unstable();
    let share = if is_whole { most } else { share(&lengths, most.saturating_sub(2)) };
    for (nth, (name, value)) in shown.iter().enumerate() {
        if nth > 0 {
            text.push(',');
        }
        let mut left = share;
        if let Some(name) = name {
            let is_short = length_of_part(Some(name), *value, share) <= share;
            let name = quoted(name, if is_short { share } else { share.saturating_sub(VALUE) });
            left = left.saturating_sub(name.chars().count()).saturating_sub(1);
            text.extend([&name, ":"]);
        }
        text.push_str(&self::shown(*value, left));
    }
    if parts(value).nth(count).is_some() {
        text.push('…');
    }
    text.push(end);
    text
}

/// Iterates over the members of an object with their names, or the items of an array.
fn parts(value: Value<'_>) -> impl Iterator<Item = (Option<Cow<'_, str>>, Value<'_>)> {
    value.members().map(|(name, value)| (Some(name), value)).chain(value.items().map(|item| (None, item)))
}

/// Returns the length of the longest parts, so that all parts together have at most `most` characters. `lengths` is in ascending order.
fn share(lengths: &[usize], most: usize) -> usize {
    let (mut left, mut parts) = (most, lengths.len());
    for length in lengths {
        let share = left.checked_div(parts).unwrap_or_default();
        if *length > share {
            return share;
        }
        (left, parts) = (left.saturating_sub(*length), parts.saturating_sub(1));
    }
    most
}

/// Returns the number of characters of a value as compact JSON. If there are more than `most`, returns any larger number.
fn length(value: Value<'_>, most: usize) -> usize {
    match value.kind() {
        Kind::String => length_of_string(&value.as_str().unwrap_or_default(), most),
        Kind::Null | Kind::Boolean | Kind::Number => value.text().len(),
        Kind::Object | Kind::Array => {
            let mut length: usize = 2;
            for (name, part) in parts(value) {
                if length > most {
                    break;
                }
                length = length.saturating_add(length_of_part(name.as_deref(), part, most));
            }
            length
        }
    }
}

/// Returns the length of a member or an item, with the comma after it.
fn length_of_part(name: Option<&str>, value: Value<'_>, most: usize) -> usize {
    let name = name.map_or(0, |name| length_of_string(name, most).saturating_add(1));
    let value = if name > most { 0 } else { length(value, most) };
    name.saturating_add(value).saturating_add(1)
}

fn length_of_string(content: &str, most: usize) -> usize {
    let text = quoted(content, most);
    if text.ends_with('…') { most.saturating_add(1) } else { text.chars().count() }
}

/// Returns the first `most` characters of a literal.
fn cut(literal: &str, most: usize) -> String {
    match literal.get(..most) {
        Some(beginning) if beginning.len() < literal.len() => format!("{beginning}…"),
        _ => literal.to_owned(),
    }
}

/// Returns the beginning of a string as a JSON literal of at most `most` characters, with an ellipsis after it if it is longer. Deceptive
/// characters are escaped. So are spaces after a space, which could otherwise fill a line.
fn quoted(content: &str, most: usize) -> String {
    let mut left = most.saturating_sub(2);
    let mut text = "\"".to_owned();
    let mut before = None;
    for character in content.chars() {
        let start = text.len();
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            _ if is_deceptive(character) || is_filling(character, before) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(text, "\\u{unit:04x}");
                }
            }
            _ => text.push(character),
        }
        let length = text.get(start..).unwrap_or_default().chars().count();
        if length > left {
            text.truncate(start);
            text.push_str("\"…");
            return text;
        }
        left = left.saturating_sub(length);
        before = Some(character);
    }
    text.push('"');
    text
}

fn is_filling(character: char, before: Option<char>) -> bool {
    character.is_whitespace() && (character != ' ' || before == Some(' '))
}

#[cfg(test)]
mod tests {
    use super::shown;
    use crate::json::{Document, JsonLimits};

    fn shown_text(json: &str, most: usize) -> String {
        shown(Document::parse(json.as_bytes(), JsonLimits::default()).expect("JSON").root(), most)
    }

    #[test]
    fn arguments_are_written_anew() {
        let given =
            format!("{{{} \"to\" : \"a\\u0062  c\" ,\r\"list\": [ 1.50, null , {{ }}, [ ] ] }}", "\n".repeat(2000));
        assert_eq!(shown_text(&given, 1000), r#"{"to":"ab \u0020c","list":[1.50,null,{},[]]}"#);
    }

    #[test]
    fn deceptive_characters_are_escaped() {
        let given = "{\"to\\n\u{2800}\":\"a\u{202e}b\\\"\\\\\u{200b}c\u{e0041}\\n\\u0007é\u{3000}\"}";
        assert_eq!(shown_text(given, 1000), r#"{"to\n\u2800":"a\u202eb\"\\\u200bc\udb40\udc41\n\u0007é\u3000"}"#);
    }

    #[test]
    fn long_members_leave_space_for_the_others() {
        let long = "é".repeat(5000);
        let given = format!(
            r#"{{"note":"{long}","list":[{}0],"to":"x","inner":{{"text":"{long}","amount":7}}}}"#,
            "1,".repeat(5000)
        );
        let text = shown_text(&given, 300);
        for part in
            [r#"{"note":"éééé"#, r#"é"…,"list":[1,1"#, r#"…],"to":"x","inner":{"text":"éé"#, r#"é"…,"amount":7}}"#]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(text.chars().count() < 320, "{text}");
        assert_eq!(shown_text(&format!("\"{long}\""), 10), format!("\"{}\"…", "é".repeat(8)));
        assert_eq!(shown_text(&"9".repeat(20), 10), "9999999999…");
    }

    #[test]
    fn many_members_and_deep_members_are_bounded() {
        let many: Vec<_> = (0..5000).map(|nth| format!("\"member-{nth}\":{nth}")).collect();
        let text = shown_text(&format!("{{{}}}", many.join(",")), 100);
        assert_eq!(text, r#"{"member-0":0,"member-1":1,"member-2":2…}"#);
        let deep = shown_text(&format!("{}1{}", "{\"abc\":[".repeat(40), "]}".repeat(40)), 100);
        assert!(deep.len() < 120 && deep.contains('…'), "{deep}");
    }
}
