//! The units at which a long block is cut: lines, sentences, words.
//!
//! Each function returns the length of the first unit of a text that is not empty, with the white space after the unit. It reads no more
//! than this length and the character after it.

pub(super) use super::line::line_length;

pub(super) type UnitLength = fn(&str) -> usize;

pub(super) const UNITS: [UnitLength; 3] = [line_length, sentence_length, word_length];

/// Characters that end a sentence. They end it with white space after them, or at the end of the text.
const SPACED_ENDS: [char; 3] = ['.', '!', '?'];
/// Characters that end a sentence also without white space: the languages that use them have none.
const ENDS: [char; 3] = ['。', '！', '？'];
/// Characters that belong to the sentence before them.
const CLOSERS: [char; 12] = ['"', '\'', ')', ']', '*', '_', '`', '”', '’', '»', '」', '』'];

/// Returns the length of the first sentence. A blank line ends a sentence too.
pub(super) fn sentence_length(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    // `Some` after a character that ends a sentence, with whether white space must follow.
    let mut end: Option<bool> = None;
    let mut is_line_start = false;
    while let Some((at, character)) = characters.next() {
        if character.is_whitespace() {
            let is_blank_line = character == '\n' && is_line_start;
            is_line_start |= character == '\n';
            let is_last = characters.peek().is_none_or(|(_, next)| !next.is_whitespace());
            if (end.is_some() || is_blank_line) && is_last {
                return at.saturating_add(character.len_utf8());
            }
            if is_blank_line {
                end = Some(true);
            }
            continue;
        }
        is_line_start = false;
        if end == Some(false) && !CLOSERS.contains(&character) && !ENDS.contains(&character) {
            return at;
        }
        end = match character {
            _ if SPACED_ENDS.contains(&character) => Some(true),
            _ if ENDS.contains(&character) => Some(false),
            _ if CLOSERS.contains(&character) => end,
            _ => None,
        };
    }
    text.len()
}

/// Returns the length of the first word. White space at the start of `text` is a word.
fn word_length(text: &str) -> usize {
    let word = text.find(char::is_whitespace).unwrap_or(text.len());
    let rest = text.get(word..).unwrap_or_default();
    let space = rest.find(|character: char| !character.is_whitespace()).unwrap_or(rest.len());
    word.saturating_add(space)
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    fn units(text: &str, unit: UnitLength) -> Vec<&str> {
        let (mut rest, mut units) = (text, Vec::new());
        while !rest.is_empty() {
            let (first, after) = rest.split_at(unit(rest));
            assert!(!first.is_empty(), "{rest:?}");
            units.push(first);
            rest = after;
        }
        units
    }

    /// R58: the ends of sentences.
    #[test]
    fn a_sentence_ends_with_a_mark_and_a_space() {
        for (text, sentences) in [
            ("One. Two! Three?", &["One. ", "Two! ", "Three?"][..]),
            ("Version 1.5 is out.\nNew", &["Version 1.5 is out.\n", "New"]),
            ("(See \"here.\") Then", &["(See \"here.\") ", "Then"]),
            ("茶を淹れる。次に。」待つ！？", &["茶を淹れる。", "次に。」", "待つ！？"]),
            ("Wait... What?!  Yes", &["Wait... ", "What?!  ", "Yes"]),
            ("no end\nhere", &["no end\nhere"]),
            ("a\n\nb\r\n\r\nc\nd", &["a\n\n", "b\r\n\r\n", "c\nd"]),
            ("a\n\n\n  \n b", &["a\n\n\n  \n ", "b"]),
            ("  ", &["  "]),
            ("...", &["..."]),
        ] {
            assert_eq!(units(text, sentence_length), sentences, "{text:?}");
        }
    }

    #[test]
    fn words_and_lines() {
        assert_eq!(units(" a  bc\td", word_length), [" ", "a  ", "bc\t", "d"]);
        assert_eq!(units("a\r\n\rb\n", line_length), ["a\r\n", "\r", "b\n"]);
    }
}
