//! The words of a text, divided and folded as the tokenizer `unicode61 remove_diacritics 2` of FTS5 does it.

use std::borrow::Cow;

use super::work;

/// Letters with diacritics, in lower case and in the order of their code points, with the letters that FTS5 stores for them. The list is
/// complete: FTS5 keeps the diacritics of all other letters.
#[rustfmt::skip]
const DIACRITICS: [(char, char); 247] = [
    ('à', 'a'), ('á', 'a'), ('â', 'a'), ('ã', 'a'), ('ä', 'a'), ('å', 'a'), ('ç', 'c'), ('è', 'e'), ('é', 'e'), ('ê', 'e'), ('ë', 'e'),
    ('ì', 'i'), ('í', 'i'), ('î', 'i'), ('ï', 'i'), ('ñ', 'n'), ('ò', 'o'), ('ó', 'o'), ('ô', 'o'), ('õ', 'o'), ('ö', 'o'), ('ù', 'u'),
    ('ú', 'u'), ('û', 'u'), ('ü', 'u'), ('ý', 'y'), ('ÿ', 'y'), ('ā', 'a'), ('ă', 'a'), ('ą', 'a'), ('ć', 'c'), ('ĉ', 'c'), ('ċ', 'c'),
    ('č', 'c'), ('ď', 'd'), ('ē', 'e'), ('ĕ', 'e'), ('ė', 'e'), ('ę', 'e'), ('ě', 'e'), ('ĝ', 'g'), ('ğ', 'g'), ('ġ', 'g'), ('ģ', 'g'),
    ('ĥ', 'h'), ('ĩ', 'i'), ('ī', 'i'), ('ĭ', 'i'), ('į', 'i'), ('ĵ', 'j'), ('ķ', 'k'), ('ĺ', 'l'), ('ļ', 'l'), ('ľ', 'l'), ('ń', 'n'),
    ('ņ', 'n'), ('ň', 'n'), ('ō', 'o'), ('ŏ', 'o'), ('ő', 'o'), ('ŕ', 'r'), ('ŗ', 'r'), ('ř', 'r'), ('ś', 's'), ('ŝ', 's'), ('ş', 's'),
    ('š', 's'), ('ţ', 't'), ('ť', 't'), ('ũ', 'u'), ('ū', 'u'), ('ŭ', 'u'), ('ů', 'u'), ('ű', 'u'), ('ų', 'u'), ('ŵ', 'w'), ('ŷ', 'y'),
    ('ź', 'z'), ('ż', 'z'), ('ž', 'z'), ('ſ', 's'), ('ơ', 'o'), ('ư', 'u'), ('ǎ', 'a'), ('ǐ', 'i'), ('ǒ', 'o'), ('ǔ', 'u'), ('ǖ', 'u'),
    ('ǘ', 'u'), ('ǚ', 'u'), ('ǜ', 'u'), ('ǟ', 'a'), ('ǧ', 'g'), ('ǩ', 'k'), ('ǫ', 'o'), ('ǭ', 'o'), ('ǰ', 'j'), ('ǵ', 'g'), ('ǹ', 'n'),
    ('ǻ', 'a'), ('ȁ', 'a'), ('ȃ', 'a'), ('ȅ', 'e'), ('ȇ', 'e'), ('ȉ', 'i'), ('ȋ', 'i'), ('ȍ', 'o'), ('ȏ', 'o'), ('ȑ', 'r'), ('ȓ', 'r'),
    ('ȕ', 'u'), ('ȗ', 'u'), ('ș', 's'), ('ț', 't'), ('ȟ', 'h'), ('ȧ', 'a'), ('ȩ', 'e'), ('ȫ', 'o'), ('ȭ', 'o'), ('ȯ', 'o'), ('ȱ', 'o'),
    ('ȳ', 'y'), ('ḁ', 'a'), ('ḃ', 'b'), ('ḅ', 'b'), ('ḇ', 'b'), ('ḉ', 'c'), ('ḋ', 'd'), ('ḍ', 'd'), ('ḏ', 'd'), ('ḑ', 'd'), ('ḓ', 'd'),
    ('ḕ', 'e'), ('ḗ', 'e'), ('ḙ', 'e'), ('ḛ', 'e'), ('ḝ', 'e'), ('ḟ', 'f'), ('ḡ', 'g'), ('ḣ', 'h'), ('ḥ', 'h'), ('ḧ', 'h'), ('ḩ', 'h'),
    ('ḫ', 'h'), ('ḭ', 'i'), ('ḯ', 'i'), ('ḱ', 'k'), ('ḳ', 'k'), ('ḵ', 'k'), ('ḷ', 'l'), ('ḹ', 'l'), ('ḻ', 'l'), ('ḽ', 'l'), ('ḿ', 'm'),
    ('ṁ', 'm'), ('ṃ', 'm'), ('ṅ', 'n'), ('ṇ', 'n'), ('ṉ', 'n'), ('ṋ', 'n'), ('ṍ', 'o'), ('ṏ', 'o'), ('ṑ', 'o'), ('ṓ', 'o'), ('ṕ', 'p'),
    ('ṗ', 'p'), ('ṙ', 'r'), ('ṛ', 'r'), ('ṝ', 'r'), ('ṟ', 'r'), ('ṡ', 's'), ('ṣ', 's'), ('ṥ', 's'), ('ṧ', 's'), ('ṩ', 's'), ('ṫ', 't'),
    ('ṭ', 't'), ('ṯ', 't'), ('ṱ', 't'), ('ṳ', 'u'), ('ṵ', 'u'), ('ṷ', 'u'), ('ṹ', 'u'), ('ṻ', 'u'), ('ṽ', 'v'), ('ṿ', 'v'), ('ẁ', 'w'),
    ('ẃ', 'w'), ('ẅ', 'w'), ('ẇ', 'w'), ('ẉ', 'w'), ('ẋ', 'x'), ('ẍ', 'x'), ('ẏ', 'y'), ('ẑ', 'z'), ('ẓ', 'z'), ('ẕ', 'z'), ('ẖ', 'h'),
    ('ẗ', 't'), ('ẘ', 'w'), ('ẙ', 'y'), ('ẛ', 's'), ('ạ', 'a'), ('ả', 'a'), ('ấ', 'a'), ('ầ', 'a'), ('ẩ', 'a'), ('ẫ', 'a'), ('ậ', 'a'),
    ('ắ', 'a'), ('ằ', 'a'), ('ẳ', 'a'), ('ẵ', 'a'), ('ặ', 'a'), ('ẹ', 'e'), ('ẻ', 'e'), ('ẽ', 'e'), ('ế', 'e'), ('ề', 'e'), ('ể', 'e'),
    ('ễ', 'e'), ('ệ', 'e'), ('ỉ', 'i'), ('ị', 'i'), ('ọ', 'o'), ('ỏ', 'o'), ('ố', 'o'), ('ồ', 'o'), ('ổ', 'o'), ('ỗ', 'o'), ('ộ', 'o'),
    ('ớ', 'o'), ('ờ', 'o'), ('ở', 'o'), ('ỡ', 'o'), ('ợ', 'o'), ('ụ', 'u'), ('ủ', 'u'), ('ứ', 'u'), ('ừ', 'u'), ('ử', 'u'), ('ữ', 'u'),
    ('ự', 'u'), ('ỳ', 'y'), ('ỵ', 'y'), ('ỷ', 'y'), ('ỹ', 'y'),
];

/// Returns the words of `text`, as they are written. A word consists of letters, digits and combining diacritics.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && !is_combining(c)).filter(|word| !word.is_empty())
}

/// Returns a word in lower case and without diacritics. The result is empty for a word that consists of diacritics.
pub(crate) fn fold(word: &str) -> Cow<'_, str> {
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
    let row = DIACRITICS.binary_search_by(|(letter, _)| {
        work::count(letter.len_utf8());
        letter.cmp(&c)
    });
    row.ok().and_then(|row| DIACRITICS.get(row)).map_or(c, |(_, without)| *without)
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

    /// The letters of FTS5's own table, by the letter that it stores for them.
    const LETTERS: [(char, &str); 25] = [
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

    #[test]
    fn the_letters_without_diacritics_are_those_of_fts5() {
        for c in '\0'..='\u{2fff}' {
            let expected = LETTERS.iter().find(|(_, letters)| letters.contains(c)).map_or(c, |(letter, _)| *letter);
            assert_eq!(without_diacritic(c), expected, "{c:?}");
        }
        assert!(DIACRITICS.is_sorted_by(|(one, _), (other, _)| one < other));
    }

    /// Letters of other scripts are in the range of the letters with diacritics.
    #[test]
    fn folding_takes_few_steps_for_each_letter_of_every_script() {
        for text in ["Москва столица России", "Ελλάδα Αθήνα", "שלום עולם", "Tiếng Việt"]
        {
            let (_, read) = work::counted(|| folded(text));
            // A binary search takes at most 8 steps of at most 3 bytes.
            assert!(read <= 24 * text.chars().count(), "{text}: {read} bytes");
        }
    }
}
