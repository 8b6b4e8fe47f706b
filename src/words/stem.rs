//! The Porter stemmer, as the tokenizer `porter` of FTS5 applies it.
//!
//! The index contains stems. The weights of words, the correction of spelling and the ranking compare words with the index.

/// FTS5 does not stem tokens outside of this range of bytes.
const STEMMED_BYTES: std::ops::RangeInclusive<usize> = 3..=64;

/// A row of a step: a suffix, and its replacement.
type Suffix = (&'static str, &'static str);

/// Step 2: suffixes made of two suffixes. A row comes before the rows whose suffix ends its own.
const STEP_2: [Suffix; 21] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("logi", "log"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

/// Step 3: suffixes of adjectives and nouns.
const STEP_3: [Suffix; 7] =
    [("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")];

/// Step 4: suffixes that are removed from long words.
const STEP_4: [&str; 19] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
];

/// Returns the stem of a word. The word must be folded to lower case.
pub(crate) fn stem(word: &str) -> String {
    let mut word = word.to_owned();
    if STEMMED_BYTES.contains(&word.len()) {
        plural(&mut word);
        past_or_participle(&mut word);
        if without(&word, "y").is_some_and(has_vowel) {
            replace(&mut word, "y", "i");
        }
        for step in [&STEP_2[..], &STEP_3] {
            let suffix = step.iter().find(|(suffix, _)| without(&word, suffix).is_some());
            if let Some(&(suffix, by)) = suffix.filter(|(suffix, _)| measure_without(&word, suffix) > 0) {
                replace(&mut word, suffix, by);
            }
        }
        long_suffix(&mut word);
        last_letter(&mut word);
    }
    word
}

/// Step 1a: plurals.
fn plural(word: &mut String) {
    let removed = if without(word, "sses").is_some() || without(word, "ies").is_some() {
        "es"
    } else if word.ends_with("ss") {
        ""
    } else {
        "s"
    };
    replace(word, removed, "");
}

/// Step 1b: `-eed`, `-ed` and `-ing`. After `-ed` and `-ing`, the end of the word is repaired: `hopping` becomes `hop`, and `hoping`
/// becomes `hope`.
fn past_or_participle(word: &mut String) {
    if without(word, "eed").is_some() {
        if measure_without(word, "eed") > 0 {
            replace(word, "eed", "ee");
        }
        return;
    }
    let Some(suffix) = ["ed", "ing"].into_iter().find(|suffix| without(word, suffix).is_some_and(has_vowel)) else {
        return;
    };
    replace(word, suffix, "");
    if ["at", "bl", "iz"].into_iter().any(|end| without(word, end).is_some()) {
        word.push('e');
    } else if ends_with_double_consonant(word) {
        word.pop();
    } else if measure(word) == 1 && ends_with_short_syllable(word) {
        word.push('e');
    }
}

/// Step 4: removes a suffix if much of the word is left.
fn long_suffix(word: &mut String) {
    let Some(suffix) = STEP_4.into_iter().find(|suffix| without(word, suffix).is_some()) else { return };
    let fits = suffix != "ion" || without(word, suffix).is_some_and(|rest| rest.ends_with(['s', 't']));
    if fits && measure_without(word, suffix) > 1 {
        replace(word, suffix, "");
    }
}

/// Step 5: a final `e`, and a double `l`.
fn last_letter(word: &mut String) {
    if let Some(rest) = word.strip_suffix('e') {
        let length = measure(rest);
        if length > 1 || (length == 1 && !ends_with_short_syllable(rest)) {
            word.pop();
        }
    }
    if word.ends_with("ll") && measure_without(word, "l") > 1 {
        word.pop();
    }
}

/// Returns the part before `suffix`. It is not empty.
fn without<'a>(word: &'a str, suffix: &str) -> Option<&'a str> {
    word.strip_suffix(suffix).filter(|rest| !rest.is_empty())
}

fn measure_without(word: &str, suffix: &str) -> usize {
    without(word, suffix).map_or(0, measure)
}

/// Replaces `suffix`, if the word ends with it.
fn replace(word: &mut String, suffix: &str, by: &str) {
    if let Some(rest) = word.strip_suffix(suffix) {
        word.truncate(rest.len());
        word.push_str(by);
    }
}

/// For each byte, whether it counts as a vowel. `y` is a vowel after a consonant. FTS5 counts bytes, and bytes that are not ASCII are
/// consonants.
fn vowels(word: &str) -> impl Iterator<Item = bool> {
    word.bytes().scan(false, |after_consonant, byte| {
        let vowel = matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u') || (byte == b'y' && *after_consonant);
        *after_consonant = !vowel;
        Some(vowel)
    })
}

/// The number of times that a consonant follows a vowel.
fn measure(word: &str) -> usize {
    vowels(word).zip(vowels(word).skip(1)).filter(|pair| *pair == (true, false)).count()
}

/// Whether the word contains a vowel. Here, each `y` except the first letter is a vowel.
fn has_vowel(word: &str) -> bool {
    word.bytes()
        .enumerate()
        .any(|(at, byte)| matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u') || (byte == b'y' && at > 0))
}

/// Whether the word ends with consonant, vowel, consonant, and the last is not `w`, `x` or `y`.
fn ends_with_short_syllable(word: &str) -> bool {
    let last = vowels(word).fold([true; 3], |[_, second, third], vowel| [second, third, vowel]);
    last == [false, true, false] && !word.ends_with(['w', 'x', 'y'])
}

/// Whether the word ends with a consonant twice, other than `l`, `s` and `z`.
fn ends_with_double_consonant(word: &str) -> bool {
    let mut letters = word.chars().rev();
    let last = letters.next();
    last.is_some_and(|last| last.is_ascii() && !"aeioulsz".contains(last)) && last == letters.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The stems come from FTS5: words were inserted into a table, and a table of the module `fts5vocab` returned its terms.
    #[test]
    fn stems_are_those_of_fts5() {
        const STEMS: &str = "\
            boxing box, snowed snow, employer employ, yed yed, by by, dying dy, a a, as as, is is, the the, \
            caresses caress, ponies poni, ties ti, caress caress, cats cat, feed feed, agreed agre, plastered plaster, \
            bled bled, motoring motor, sing sing, conflated conflat, troubled troubl, sized size, hopping hop, \
            tanned tan, falling fall, hissing hiss, fizzed fizz, failing fail, filing file, happy happi, sky sky, yes ye, \
            say sai, relational relat, conditional condit, valenci valenc, hesitanci hesit, digitizer digit, \
            conformabli conform, radicalli radic, differentli differ, vileli vile, analogousli analog, \
            vietnamization vietnam, predication predic, operator oper, feudalism feudal, decisiveness decis, \
            hopefulness hope, callousness callous, formaliti formal, sensitiviti sensit, sensibiliti sensibl, \
            analogi analog, triplicate triplic, formative form, formalize formal, electriciti electr, electrical electr, \
            hopeful hope, goodness good, revival reviv, allowance allow, inference infer, airliner airlin, \
            gyroscopic gyroscop, adjustable adjust, defensible defens, irritant irrit, replacement replac, \
            adjustment adjust, dependent depend, adoption adopt, homologou homolog, communism commun, activate activ, \
            angulariti angular, homologous homolog, effective effect, bowdlerize bowdler, probate probat, rate rate, \
            cease ceas, controll control, roll roll, generalization gener, oscillators oscil, authorization author, \
            yyy yyi, syzygy syzygi, ion ion, ing ing, ational ation";
        for pair in STEMS.split(", ") {
            let (word, expected) = pair.split_once(' ').expect("a word and its stem");
            assert_eq!(stem(word), expected, "{word}");
        }
        assert_eq!(stem(""), "");
    }

    #[test]
    fn words_of_more_than_64_bytes_are_not_stemmed() {
        let word = format!("{}s", "a".repeat(63));
        assert_eq!(stem(&word).len(), 63);
        assert_eq!(stem(&format!("a{word}")).len(), 65);
    }

    #[test]
    fn words_of_any_script_do_not_panic() {
        for word in ["日本語", "éed", "ßing", "ééés", "yyy", "sss", "ing", "eed", "é", "naïveness", "Ἀθῆναιing"]
        {
            stem(word);
        }
    }
}
