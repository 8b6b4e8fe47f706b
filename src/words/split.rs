//! The words of a text. Those of scripts with spaces between words are divided and folded as the tokenizer `unicode61 remove_diacritics 2`
//! of FTS5 does it.

use std::borrow::Cow;
use std::ops::Range;

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

/// A part of a text that is not divided further: a word of a script with spaces between words, or else one character with its marks.
#[derive(Clone, Debug)]
struct TextUnit {
    range: Range<usize>,
    kind: CharacterKind,
}

/// How a character takes part in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CharacterKind {
    /// A letter or digit of a script with spaces between words.
    Spaced,
    /// A letter of a script without spaces between words, such as Chinese and Thai.
    Unspaced,
    Emoji,
    /// A mark, which belongs to the letter before it.
    Mark,
    /// A character between words.
    Separator,
}

impl CharacterKind {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' => Self::Spaced,
            '\0'..='\x7f' => Self::Separator,
            _ if is_combining(c) || is_mark(c) => Self::Mark,
            _ if !c.is_alphanumeric() => {
                if is_emoji(c) {
                    Self::Emoji
                } else {
                    Self::Separator
                }
            }
            _ if is_unspaced(c) => Self::Unspaced,
            _ => Self::Spaced,
        }
    }

    /// Returns whether `c` belongs to the unit of a character of this kind before it.
    fn continues_with(self, c: char) -> bool {
        match Self::of(c) {
            Self::Mark => self != Self::Emoji,
            Self::Spaced => matches!(self, Self::Spaced | Self::Mark),
            _ => false,
        }
    }
}

/// Returns the words of `text`, as they are written. A word consists of letters, digits and their marks. An emoji is a word too.
///
/// In scripts without spaces, it is not known where a word begins. There each pair of adjacent letters is a word, and so is each Chinese
/// character. A single letter of another such script is a word only between separators, because most texts contain it.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut ends_pair = false;
    let words = units(text).flat_map(move |TextUnit { range, kind }| {
        let next = if kind == CharacterKind::Unspaced { unit(text, range.end) } else { None };
        let next = next.filter(|next| next.kind == CharacterKind::Unspaced && next.range.start == range.end);
        let is_word = kind != CharacterKind::Unspaced
            || next.is_none() && !ends_pair
            || text.get(range.clone()).is_some_and(|letter| letter.starts_with(is_chinese));
        ends_pair = next.is_some();
        let pair = next.map(|next| range.start..next.range.end);
        pair.into_iter().chain(is_word.then_some(range))
    });
    words.filter_map(|word| text.get(word))
}

fn units(text: &str) -> impl Iterator<Item = TextUnit> {
    std::iter::successors(unit(text, 0), |before| unit(text, before.range.end))
}

/// Returns the first unit of `text` from the position `from`.
fn unit(text: &str, from: usize) -> Option<TextUnit> {
    let rest = text.get(from..)?;
    let start = from.saturating_add(rest.find(|c| CharacterKind::of(c) != CharacterKind::Separator)?);
    let mut characters = text.get(start..)?.chars();
    let kind = CharacterKind::of(characters.next()?);
    let more = characters.as_str();
    let length = more.find(|c| !kind.continues_with(c)).unwrap_or(more.len());
    let end = text.len().saturating_sub(more.len()).saturating_add(length);
    Some(TextUnit { range: start..end, kind })
}

/// Returns whether a character is a part of a word: a letter, a digit or a mark of any script.
///
/// ```
/// use edge_mcp::rag::is_word_character;
///
/// assert!("Tee茶2".chars().all(is_word_character) && !"-。🍵".contains(is_word_character));
/// ```
#[cfg(feature = "rag")]
pub fn is_word_character(c: char) -> bool {
    !matches!(CharacterKind::of(c), CharacterKind::Separator | CharacterKind::Emoji)
}

/// Whether the letter belongs to a script without spaces between words, or to Korean, where a word contains the particles after it.
#[rustfmt::skip]
pub(super) fn is_unspaced(c: char) -> bool {
    let is_south_east_asian = matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}');
    let is_korean = matches!(c, '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7ff}');
    let is_other = matches!(c, '\u{3005}'..='\u{33ff}' | '\u{a000}'..='\u{a4cf}' | '\u{ff66}'..='\u{ffdc}' | '\u{1b000}'..='\u{1b16f}');
    is_south_east_asian || is_korean || is_other || is_chinese(c)
}

/// Whether the letter is a Chinese character, which Japanese and Korean use too.
fn is_chinese(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn is_emoji(c: char) -> bool {
    // Not the tones of skin, which follow another emoji.
    matches!(c, '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1f3fa}' | '\u{1f400}'..='\u{1faff}')
}

/// Returns a word in lower case and without diacritics. The result is empty for a word that consists of diacritics.
pub(crate) fn fold(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(
        word.chars()
            .map(narrow)
            .flat_map(char::to_lowercase)
            .filter(|c| !is_combining(*c))
            .map(without_diacritic)
            .collect(),
    )
}

/// Whether the character is a diacritic that is written after its letter.
fn is_combining(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Whether the character is another mark that belongs to its letter, and that Unicode does not count as alphabetic.
fn is_mark(c: char) -> bool {
    // The scripts of India have a block of 128 characters each, with these marks in the same places.
    let is_indian = matches!(c, '\u{900}'..='\u{d7f}') && matches!(u32::from(c) % 128, 0x3c | 0x4d);
    let is_other = matches!(c,
        '\u{dca}' | '\u{e47}'..='\u{e4e}' | '\u{eba}' | '\u{ec8}'..='\u{ece}' | '\u{1037}' | '\u{1039}'..='\u{103a}'
        | '\u{17c9}'..='\u{17d3}' | '\u{17dd}');
    is_indian || is_other
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

/// Returns the ASCII character for one that is as wide as a Chinese character, such as `Ａ`.
fn narrow(c: char) -> char {
    if !matches!(c, '\u{ff01}'..='\u{ff5e}') {
        return c;
    }
    char::from_u32(u32::from(c).saturating_sub(0xff01 - 0x21)).unwrap_or(c)
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
            ("Ελλάδα, Москва, שלום, العربية", &["ελλάδα", "москва", "שלום", "العربية"]),
            ("don't “quote” – this…", &["don", "t", "quote", "this"]),
        ];
        for (text, expected) in WORDS {
            assert_eq!(folded(text), *expected, "{text}");
        }
    }

    #[test]
    fn words_of_scripts_without_spaces_are_pairs_of_letters_and_chinese_characters() {
        const WORDS: &[(&str, &[&str])] = &[
            ("日本語。", &["日本", "日", "本語", "本", "語"]),
            ("東京タワー", &["東京", "東", "京タ", "京", "タワ", "ワー"]),
            ("서울의 물", &["서울", "울의", "물"]),
            ("น้ำชา", &["น้ำ", "ำช", "ชา"]),
            ("ນ້ຳ ភាសា မြန်", &["ນ້ຳ", "ភា", "ាស", "សា", "မြ", "ြန်"]),
            ("MCPサーバーv2の", &["mcp", "サー", "ーバ", "バー", "v2", "の"]),
            ("２０２６年ＭＣＰ", &["2026", "年", "mcp"]),
            ("𠮷野家", &["𠮷野", "𠮷", "野家", "野", "家"]),
            ("茶 茶", &["茶", "茶"]),
        ];
        for (text, expected) in WORDS {
            assert_eq!(folded(text), *expected, "{text}");
        }
    }

    #[test]
    fn an_emoji_is_a_word() {
        assert_eq!(folded("🚀🎉 ❤️ 👍🏽 a🚀b ✓ → …"), ["🚀", "🎉", "❤", "👍", "a", "🚀", "b", "✓"]);
    }

    /// The marks do not count as alphabetic.
    #[test]
    fn marks_belong_to_their_word() {
        for word in ["हिन्दी", "বাংলাদেশ", "தமிழ்", "සිංහල", "मराठी", "क़लम"]
        {
            assert_eq!(folded(word), [word]);
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
