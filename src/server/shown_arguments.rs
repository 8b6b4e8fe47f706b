//! The arguments of a call as a person sees them before approval.
//!
//! The caller chooses the spelling and the length of the arguments. So they are written anew, without white space between tokens, and with
//! numbers as the handler gets them. Only strings are shortened. If the text is still too long, it is not shown, because a member that is
//! left out could be the decisive one.

use std::fmt::Write;

use edge_json::{Kind, Value, canonical};

use crate::text::is_deceptive;

/// A string is not shortened to fewer characters.
const SHORTEST: usize = 30;

/// Returns a value as JSON on one line, of at most `most` characters, with every member and every item. An ellipsis outside of quotes shows
/// that a string is shortened. Returns `None` if the value is too long even with short strings.
pub(super) fn shown(value: Value<'_>, most: usize) -> Option<String> {
    let halves = std::iter::successors(Some(most), |longest| longest.checked_div(2));
    halves.take_while(|longest| *longest >= SHORTEST).find_map(|longest| {
        let mut shown = ArgumentText { text: String::new(), left: most, longest };
        shown.add(value)?;
        Some(shown.text)
    })
}

/// The text so far. Its methods return `None` if it becomes too long.
struct ArgumentText {
    text: String,
    /// The number of further characters.
    left: usize,
    /// The length of the longest string.
    longest: usize,
}

impl ArgumentText {
    fn add(&mut self, value: Value<'_>) -> Option<()> {
        match value.kind() {
            Kind::Object => {
                self.push("{")?;
                for (nth, (name, value)) in value.members().enumerate() {
                    if nth > 0 {
                        self.push(",")?;
                    }
                    if name.chars().nth(self.left).is_some() {
                        return None;
                    }
                    // A name is not shortened.
                    self.push(&quoted(&name, usize::MAX))?;
                    self.push(":")?;
                    self.add(value)?;
                }
                self.push("}")
            }
            Kind::Array => {
                self.push("[")?;
                for (nth, item) in value.items().enumerate() {
                    if nth > 0 {
                        self.push(",")?;
                    }
                    self.add(item)?;
                }
                self.push("]")
            }
            Kind::String => self.push(&quoted(&value.as_str().unwrap_or_default(), self.longest)),
            Kind::Number => self.push(&canonical::number(value.text())),
            Kind::Null | Kind::Boolean => self.push(value.text()),
        }
    }

    fn push(&mut self, text: &str) -> Option<()> {
        self.left = self.left.checked_sub(text.chars().count())?;
        self.text.push_str(text);
        Some(())
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
    use edge_json::{Document, JsonLimits};

    fn shown_text(json: &str, most: usize) -> Option<String> {
        shown(Document::parse(json.as_bytes(), JsonLimits::default()).expect("JSON").root(), most)
    }

    #[test]
    fn arguments_are_written_anew() {
        let given =
            format!("{{{} \"to\" : \"a\\u0062  c\" ,\r\"list\": [ 1.50, null , {{ }}, [ ] ] }}", "\n".repeat(2000));
        assert_eq!(shown_text(&given, 1000).as_deref(), Some(r#"{"to":"ab \u0020c","list":[1.5,null,{},[]]}"#));
    }

    /// A person approves the number that the handler gets.
    #[test]
    fn numbers_are_shown_as_the_handler_gets_them() {
        let given = "[0.99999999999999999999,10.00E+2,1e-400,9007199254740993,9007199254740993.0,7.0,0.1,-0.0,1e300]";
        let expected = "[1,1000,0,9007199254740993,9007199254740993,7,0.1,0,1e300]";
        assert_eq!(shown_text(given, 1000).as_deref(), Some(expected));
    }

    #[test]
    fn deceptive_characters_are_escaped() {
        let given = "{\"to\\n\u{2800}\":\"a\u{202e}b\\\"\\\\\u{200b}c\u{e0041}\\n\\u0007é\u{3000}\"}";
        let expected = r#"{"to\n\u2800":"a\u202eb\"\\\u200bc\udb40\udc41\n\u0007é\u3000"}"#;
        assert_eq!(shown_text(given, 1000).as_deref(), Some(expected));
    }

    /// Long texts do not push other members out of the question.
    #[test]
    fn only_long_strings_are_shortened() {
        let long = "é".repeat(5000);
        let notes: Vec<_> = (0..9).map(|nth| format!(r#""note-{nth}":"{long}","#)).collect();
        let payment = r#"{"currency":"EUR","memo":"m","reference":"r","when":"now","amount":9000,"to":"DE02 1203 0000 0000 2020 51"}"#;
        let text = shown_text(&format!(r#"{{{}"payment":{payment}}}"#, notes.concat()), 1000).expect("a text");
        for nth in 0..9 {
            assert!(text.contains(&format!(r#""note-{nth}":"é"#)), "{nth} in {text}");
        }
        assert!(text.ends_with(&format!(r#"é"…,"payment":{payment}}}"#)), "{text}");
        assert!(text.chars().count() <= 1000, "{text}");
        assert_eq!(shown_text(&format!("\"{long}\""), 100), Some(format!("\"{}\"…", "é".repeat(48))));

        let payments: Vec<_> = (0..46).map(|nth| format!(r#"{{"to":"account-{nth}","euros":{nth}}}"#)).collect();
        let payments = format!("[{}]", payments.join(","));
        assert_eq!(shown_text(&payments, 4000), Some(payments));
    }

    #[test]
    fn arguments_that_do_not_fit_are_not_shown() {
        let long = "é".repeat(5000);
        for given in [
            format!("[{}]", vec!["1"; 500].join(",")),
            format!("[{}]", vec![format!("\"{long}\""); 32].join(",")),
            format!("{{\"{long}\":1}}"),
            "9".repeat(1001),
            format!("{}1{}", "{\"abcdefghijklmnop\":[".repeat(49), "]}".repeat(49)),
        ] {
            assert_eq!(shown_text(&given, 1000), None, "{given}");
        }
        for given in [format!("[{}1]", "1,".repeat(498)), "9".repeat(1000)] {
            assert_eq!(shown_text(&given, 1000), Some(given));
        }
    }
}
