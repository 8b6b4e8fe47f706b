//! The words of a text, divided and folded as the tokenizer `unicode61 remove_diacritics 2` of FTS5 does it.

use std::borrow::Cow;

/// Letters with diacritics, in lower case, by the letter that FTS5 stores for them. The list is complete: FTS5 keeps the diacritics of
/// all other letters.
const DIACRITICS: [(char, &str); 25] = [
    ('a', "àáâãäåāăąǎǟǻȁȃȧḁạảấầẩẫậắằẳẵặ"),
    ('b', "ḃḅḇ"),
    ('c', "çćĉċčḉ"),
    ('d', "ďḋḍḏḑḓ"),
    ('e', "èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ"),
    ('f', "ḟ"),
    ('g', "ĝğġģǧǵḡ"),
    ('h', "ĥȟḣḥḧḩḫẖ"),
    ('i', "ìíîïĩīĭįǐȉȋḭḯỉị"),
    ('j', "ĵǰ"),
    ('k', "ķǩḱḳḵ"),
    ('l', "ĺļľḷḹḻḽ"),
    ('m', "ḿṁṃ"),
    ('n', "ñńņňǹṅṇṉṋ"),
    ('o', "òóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ"),
    ('p', "ṕṗ"),
    ('r', "ŕŗřȑȓṙṛṝṟ"),
    ('s', "śŝşšſșṡṣṥṧṩẛ"),
    ('t', "ţťțṫṭṯṱẗ"),
    ('u', "ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự"),
    ('v', "ṽṿ"),
    ('w', "ŵẁẃẅẇẉẘ"),
    ('x', "ẋẍ"),
    ('y', "ýÿŷȳẏẙỳỵỷỹ"),
    ('z', "źżžẑẓẕ"),
];

/// Returns the words of `text`, as they are written. A word consists of letters, digits and combining diacritics.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && !is_combining(c)).filter(|word| !word.is_empty())
}

/// Returns a word in lower case and without diacritics. The result is empty for a word that consists of diacritics.
pub(super) fn fold(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(word.chars().flat_map(char::to_lowercase).filter(|c| !is_combining(*c)).map(without_diacritic).collect())
}

/// Whether the character is a diacritic that is written after its letter.
fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

fn without_diacritic(c: char) -> char {
    if !matches!(c, 'à'..='ỹ') {
        return c;
    }
    DIACRITICS.iter().find(|(_, letters)| letters.contains(c)).map_or(c, |(letter, _)| *letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str) -> Vec<String> {
        words(text).map(|word| fold(word).into_owned()).collect()
    }

    /// The expected words come from FTS5: each text was inserted into a table, and a table of the module `fts5vocab` returned its
    /// terms.
    #[test]
    fn words_are_those_of_fts5() {
        const WORDS: &[(&str, &[&str])] = &[
            ("", &[]),
            ("tools/call, `MCP_STATE_KEY`", &["tools", "call", "mcp", "state", "key"]),
            ("cx.step(\"charge\")", &["cx", "step", "charge"]),
            ("2026-07-28: 1.5 MB", &["2026", "07", "28", "1", "5", "mb"]),
            ("unevaluatedProperties", &["unevaluatedproperties"]),
            ("Crème brûlée, ÀÉÎÕÜ, Tiếng Việt, Łódź", &["creme", "brulee", "aeiou", "tieng", "viet", "łodz"]),
            ("Cre\u{300}me", &["creme"]),
            ("İstanbul Straße Ærø", &["istanbul", "straße", "ærø"]),
            ("Ελλάδα, Москва, 日本語。", &["ελλάδα", "москва", "日本語"]),
            ("don't “quote” – this…", &["don", "t", "quote", "this"]),
        ];
        for (text, expected) in WORDS {
            assert_eq!(folded(text), *expected, "{text}");
        }
    }

    #[test]
    fn a_diacritic_without_a_letter_folds_to_nothing() {
        assert_eq!(folded("\u{301} a"), ["", "a"]);
    }

    #[test]
    fn the_table_contains_only_letters_in_the_range_that_is_looked_up() {
        for (_, letters) in DIACRITICS {
            assert!(letters.chars().all(|c| ('à'..='ỹ').contains(&c)), "{letters}");
        }
    }
}
