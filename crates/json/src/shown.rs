//! Parts of a JSON text in messages.
//!
//! Someone else chose the text, and a person or a model reads the message. So a shown part must not hide a message, and must not look like a
//! line of the program.

use std::borrow::Cow;

/// The characters that are invisible or change the text around them, as ranges in ascending order. A sequence of them can hide any message.
///
/// Source: Unicode 16.0: the categories Cc, Cf, Zl and Zp, and the property `Default_Ignorable_Code_Point`, which contains the variation
/// selectors, the tags, the fillers and unassigned code points. The table also has the blank Braille pattern. It does not have the format
/// characters with a shape (`Prepended_Concatenation_Mark`), such as the Arabic number sign.
const DECEPTIVE: [(char, char); 21] = [
    ('\0', '\u{1f}'),
    ('\u{7f}', '\u{9f}'),
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Returns whether a character is a control character, is invisible, or changes the direction of the text around it.
pub fn is_deceptive(character: char) -> bool {
    // Most texts are ASCII, and every request has some that are checked.
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    let row = DECEPTIVE.partition_point(|(_, last)| *last < character);
    DECEPTIVE.get(row).is_some_and(|(first, _)| *first <= character)
}

/// Returns the first 64 characters of a name or a value, for a message that repeats input of a caller. Deceptive characters are escaped, so
/// that the caller sees them.
pub fn shortened(text: &str) -> Cow<'_, str> {
    const MOST: usize = 64;
    if text.len() <= MOST && !text.chars().any(is_deceptive) {
        return Cow::Borrowed(text);
    }
    let mut shortened = String::new();
    for (nth, character) in text.chars().enumerate() {
        if nth == MOST {
            shortened.push('…');
            break;
        }
        if is_deceptive(character) {
            shortened.extend(character.escape_default());
        } else {
            shortened.push(character);
        }
    }
    Cow::Owned(shortened)
}

#[cfg(test)]
mod tests {
    use regex_syntax::hir::{Class, HirKind};

    use super::*;

    /// The crate `regex-syntax` has its own tables of Unicode.
    #[test]
    fn the_table_has_the_invisible_characters_of_unicode() {
        let class =
            r"[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\x{2800}]--\p{Prepended_Concatenation_Mark}]";
        let class = regex_syntax::parse(class).expect("a class");
        let HirKind::Class(Class::Unicode(class)) = class.kind() else { panic!("a class of characters") };
        let ranges: Vec<_> = class.ranges().iter().map(|range| (range.start(), range.end())).collect();
        assert_eq!(DECEPTIVE.as_slice(), ranges);
        for character in '\0'..=char::MAX {
            let is_in = ranges.iter().any(|(first, last)| (first..=last).contains(&&character));
            assert_eq!(is_deceptive(character), is_in, "{character:?}");
        }
    }

    #[test]
    fn a_long_text_is_shortened_and_hidden_characters_are_escaped() {
        assert_eq!(shortened(&"é".repeat(64)), "é".repeat(64));
        assert_eq!(shortened(&"é".repeat(65)), "é".repeat(64) + "…");
        assert_eq!(shortened("a\n\u{202e}\u{3164}"), "a\\n\\u{202e}\\u{3164}");
        assert!(matches!(shortened("plain"), Cow::Borrowed("plain")));
    }
}
