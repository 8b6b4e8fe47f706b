//! Foreign text made safe to show.
//!
//! Callers, documents and other servers choose texts that a person or a model reads next to ours. Such a text must not hide a message, and
//! must not look like a line of the program. Each function here is for one kind of place, and all of them use one table.

use std::borrow::Cow;

/// A text that is usually a string literal.
pub type Text = Cow<'static, str>;

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

/// The scripts with joiners, as ranges: Arabic to Myanmar, and Khmer and Mongolian.
const JOINED: [(char, char); 2] = [('\u{600}', '\u{109f}'), ('\u{1780}', '\u{18af}')];
/// The symbols that a selector or a joiner can follow, as ranges: those of the text and emoji blocks, and four between CJK characters.
const SYMBOLS: [(char, char); 5] = [
    ('\u{203c}', '\u{2bff}'),
    ('\u{3030}', '\u{3030}'),
    ('\u{303d}', '\u{303d}'),
    ('\u{3297}', '\u{3299}'),
    ('\u{1f000}', '\u{1faff}'),
];

const EMOJI_SELECTOR: char = '\u{fe0f}';
const JOINER: char = '\u{200d}';

/// Returns whether a character is a control character, is invisible, or changes the direction of the text around it.
pub(crate) fn is_deceptive(character: char) -> bool {
    is_in(&DECEPTIVE, character)
}

/// Returns whether one of the ranges contains a character. The ranges are in ascending order.
fn is_in(ranges: &[(char, char)], character: char) -> bool {
    let row = ranges.partition_point(|(_, last)| *last < character);
    ranges.get(row).is_some_and(|(first, _)| *first <= character)
}

/// Returns whether a text has no deceptive characters, line breaks or tabs, and no spaces other than U+0020.
pub(crate) fn is_plain(text: &str) -> bool {
    text.chars().all(|character| character == ' ' || !is_deceptive(character) && !character.is_whitespace())
}

/// Returns a text of several lines without deceptive characters. Line feeds and tabs stay. Each other space becomes U+0020, because the
/// choice among the spaces of Unicode could hide a message.
///
/// A joiner stays after a character of a script that may need it, and after a symbol. The selector of text or emoji presentation stays after
/// a symbol. Both stay only directly after a visible character. So Latin text cannot contain them, and no sequence of them hides a message.
/// In the other scripts, each single one can still hide one bit.
pub fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    let mut before = ' ';
    for character in text.chars() {
        let is_other_space = character.is_whitespace() && !is_deceptive(character);
        let character = if is_other_space { ' ' } else { character };
        if matches!(character, '\n' | '\t') || !is_deceptive(character) || is_needed(character, before) {
            visible.push(character);
            before = character;
        }
    }
    visible
}

/// Makes the texts and the names in a value [`visible`]. The recursion is bounded by the nesting of JSON.
pub(crate) fn make_visible(value: &mut serde_json::Value) {
    use serde_json::Value;
    match value {
        Value::String(text) => *text = visible(text),
        Value::Array(items) => items.iter_mut().for_each(make_visible),
        Value::Object(members) => {
            members.values_mut().for_each(make_visible);
            *members = std::mem::take(members).into_iter().map(|(name, value)| (visible(&name), value)).collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns whether an invisible character is a part of the character before it.
fn is_needed(character: char, before: char) -> bool {
    match character {
        // An emoji such as the rainbow flag has both.
        JOINER if before == EMOJI_SELECTOR => true,
        _ if is_deceptive(before) || before.is_whitespace() => false,
        '\u{200c}' => is_in(&JOINED, before),
        JOINER => is_in(&JOINED, before) || is_in(&SYMBOLS, before),
        '\u{fe0e}' | EMOJI_SELECTOR => is_in(&SYMBOLS, before),
        _ => false,
    }
}

/// Returns a text on one line and without deceptive characters, cut to `most` characters and an ellipsis. Line breaks and tabs become
/// spaces.
pub fn line(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most && !text.chars().any(is_deceptive) {
        return Cow::Borrowed(text);
    }
    let mut characters = text.chars().filter_map(|character| {
        if is_deceptive(character) { character.is_whitespace().then_some(' ') } else { Some(character) }
    });
    let mut line: String = characters.by_ref().take(most).collect();
    if characters.next().is_some() {
        line.push('…');
    }
    Cow::Owned(line)
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

/// Returns a [`line`] with one space between words, for a sentence that a person reads. Spaces could otherwise fill the rest of the line, so
/// that the text after them looks like a new line.
pub fn sentence(text: &str, most: usize) -> String {
    let mut words = String::new();
    for word in line(text, usize::MAX).split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    line(&words, most).into_owned()
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

    /// R87: control characters, overrides of the direction, tags, fillers and variation selectors are removed.
    #[test]
    fn hidden_characters_are_removed() {
        let selectors: String = ('\u{e0100}'..='\u{e01ef}').chain('\u{fe00}'..='\u{fe0f}').collect();
        for (given, expected) in [
            ("a\tb\nc", "a\tb\nc"),
            ("a\r\nb\0\u{1b}[31m\u{7f}\u{85}", "a\nb[31m"),
            ("a\u{202e}b\u{2066}c\u{2069}\u{200e}\u{200b}\u{feff}", "abc"),
            ("a\u{e0001}\u{e0041}\u{e007f}b", "ab"),
            ("a\u{34f}\u{115f}\u{1160}\u{17b4}\u{180b}\u{2800}\u{3164}\u{ffa0}\u{2065}\u{fff0}b", "ab"),
            (&format!("a{selectors}b 😀{selectors}"), "ab 😀\u{fe0e}"),
            ("می\u{200c}خواهم 👩\u{200d}🔬 e\u{301}", "می\u{200c}خواهم 👩\u{200d}🔬 e\u{301}"),
            ("❤\u{fe0f}\u{200d}🔥 ☎\u{fe0e}", "❤\u{fe0f}\u{200d}🔥 ☎\u{fe0e}"),
            ("a\u{a0}b\u{1680}\u{2000}\u{200a}\u{202f}\u{205f}\u{3000}c\u{85}", "a b      c"),
            ("中\u{200d}文\u{200c}か\u{fe0f}😀\u{200c}ក\u{200c}\u{17d2}", "中文か😀ក\u{200c}\u{17d2}"),
            ("a\u{200d}b\u{200c}c\u{fe0f} \u{200d}", "abc "),
            ("می\u{200c}\u{200d}\u{200c}خ ❤\u{fe0f}\u{fe0f}\u{200d}\u{200d}🔥", "می\u{200c}خ ❤\u{fe0f}\u{200d}🔥"),
        ] {
            assert_eq!(visible(given), expected, "{given:?}");
            assert_eq!(visible(expected), expected);
        }
    }

    #[test]
    fn a_line_has_no_line_breaks() {
        let given = "a\u{202e}b\u{200d}\n\n\tc\u{2028}d  e\u{85}\u{3164}";
        assert_eq!((line(given, 50), sentence(given, 50)), ("ab   c d  e ".into(), "ab c d e".to_owned()));
        assert_eq!((line(given, 3), sentence(given, 3)), ("ab …".into(), "ab …".to_owned()));
        assert_eq!(shortened(&"é".repeat(64)), "é".repeat(64));
        assert_eq!(shortened(&"é".repeat(65)), "é".repeat(64) + "…");
        assert_eq!(shortened("a\n\u{202e}\u{3164}"), "a\\n\\u{202e}\\u{3164}");
        assert!(matches!(shortened("plain"), Cow::Borrowed("plain")));
    }
}
