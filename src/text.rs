//! Foreign text made safe to show.
//!
//! Callers, documents and other servers choose texts that a person or a model reads next to ours. Such a text must not hide a message, and
//! must not look like a line of the program. Each function here is for one kind of place, and all of them use one table.

use std::borrow::Cow;

pub(crate) use edge_json::is_deceptive;
pub use edge_json::shortened;

/// A text that is usually a string literal.
pub(crate) type Text = Cow<'static, str>;

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

fn is_in(ranges: &[(char, char)], character: char) -> bool {
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&character))
}

const EMOJI_SELECTOR: char = '\u{fe0f}';
const JOINER: char = '\u{200d}';

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

/// Returns the beginning of a message of another server, for the log. Quoted parts may be values of arguments, and words of more than 20
/// characters may be tokens, so they are left out.
#[cfg(feature = "client")]
pub(crate) fn for_log(text: &str) -> String {
    const MOST: usize = 300;
    const LONGEST_WORD: usize = 20;
    let (mut unquoted, mut quote, mut before) = (String::new(), None, ' ');
    for character in line(text, MOST).chars() {
        // An apostrophe within a word is no quotation mark.
        let begins = matches!(character, '"' | '`' | '\'') && !before.is_alphanumeric();
        match quote {
            None if begins => {
                quote = Some(character);
                unquoted.push('…');
            }
            None => unquoted.push(character),
            Some(end) if end == character => quote = None,
            Some(_) => {}
        }
        before = character;
    }
    let is_short = |word: &str| word.chars().nth(LONGEST_WORD).is_none();
    let words = unquoted.split(' ').map(|word| if is_short(word) { word } else { "…" });
    words.collect::<Vec<_>>().join(" ")
}

/// Escapes a text for HTML, including attributes in double quotes.
#[cfg(any(feature = "client", feature = "page", feature = "rag"))]
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(['&', '<', '>', '"']) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped.into()
}

/// Returns whether a URI begins with `scheme`, which contains the `://`. Case does not matter.
#[cfg(feature = "gateway")]
pub(crate) fn has_uri_scheme(uri: &str, scheme: &str) -> bool {
    uri.get(..scheme.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(scheme))
}

/// Returns whether `text` has only characters that a URI may have (RFC 3986 §2).
pub(crate) fn has_uri_characters(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte))
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
    use super::*;

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

    /// A message of another server can have a token of a caller, and values of arguments.
    #[cfg(feature = "client")]
    #[test]
    fn the_log_gets_no_quoted_parts_and_no_long_words() {
        for (given, expected) in [
            ("Session not found", "Session not found"),
            ("Unknown tool: 'zzz', can't call", "Unknown tool: …, can't call"),
            ("got `a b` and \"c\" here", "got … and … here"),
            ("not closed: \"a b", "not closed: …"),
            ("Token eyJhbGciOiJIUzI1NiJ9.e30 is not valid", "Token … is not valid"),
            ("a\nb\u{202e}c", "a bc"),
        ] {
            assert_eq!(for_log(given), expected);
        }
        assert_eq!(for_log(&"word ".repeat(1000)).chars().count(), 301);
    }

    #[test]
    fn a_line_has_no_line_breaks() {
        let given = "a\u{202e}b\u{200d}\n\n\tc\u{2028}d  e\u{85}\u{3164}";
        assert_eq!((line(given, 50), sentence(given, 50)), ("ab   c d  e ".into(), "ab c d e".to_owned()));
        assert_eq!((line(given, 3), sentence(given, 3)), ("ab …".into(), "ab …".to_owned()));
    }
}
