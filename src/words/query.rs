//! The words of a question, and their correction by the words of the index.
//!
//! A store reads how many of the passages that the caller can see contain each of the [stems](Words::stems), and the words of these passages
//! that resemble them. [`Words::learn`] takes both: it notes how frequent each word of the question is, and corrects words that no passage
//! contains. A store may search for the stems at the same time. It repeats the search if `learn` corrects a word.

use super::split::{fold, words};
use super::stem::stem;
use crate::limits::{RAG_CORRECTED_WORDS, RAG_QUERY_WORDS};

/// Frequent English words that say little about the subject of a question. They are ignored, unless a question has no other words.
const STOP_WORDS: [&str; 64] = [
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do", "does", "for", "from",
    "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "no", "not", "of", "on", "or",
    "our", "should", "so", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "to",
    "us", "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you", "your",
];

/// The least length of a word that is corrected. Shorter words resemble too many other words.
const CORRECTED_WORD: usize = 6;
/// The least length of its stem.
const CORRECTED_STEM: usize = 5;
/// The number of letters at the beginning of a stem that are not corrected. The store reads only the words that begin with them.
const CORRECT_LETTERS: usize = 2;

/// The words of a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Words(Vec<Word>);

/// A word of a question.
#[derive(Clone, Debug, PartialEq)]
struct Word {
    stem: String,
    /// The number of passages that contain the stem, of those that the caller can see.
    passages: u64,
    /// Whether the word is long enough to correct it.
    is_long: bool,
}

/// A word of the passages that a caller can see.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IndexedWord {
    pub(crate) stem: String,
    /// The number of passages that contain it.
    pub(crate) passages: u64,
}

impl Words {
    /// Reads the words of a question. Punctuation only separates words, so no part of a question is an operator.
    pub(crate) fn of(question: &str) -> Self {
        let said: Vec<_> = words(question).map(fold).filter(|word| !word.is_empty()).collect();
        let only_stop_words = said.iter().all(|word| is_stop_word(word));
        let mut all = Self(Vec::new());
        for word in said.iter().filter(|word| only_stop_words || !is_stop_word(word)) {
            let stem = stem(word);
            if all.0.len() < RAG_QUERY_WORDS && !all.contains(&stem) {
                all.0.push(Word { stem, passages: 0, is_long: word.len() >= CORRECTED_WORD });
            }
        }
        all
    }

    /// Returns whether the question has no words.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the stems of the words, each once.
    pub(crate) fn stems(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|word| word.stem.as_str())
    }

    /// Takes words of the index: the stems of the question, and words that resemble them. Returns whether it corrected a word.
    ///
    /// A word that no passage contains is replaced by a word that differs by one letter, or by the order of two adjacent letters. If
    /// several words do, the one in most passages is taken. At most the first 4 words that no passage contains are corrected.
    ///
    /// The words must come only from passages that the caller can see, because the caller sees the correction.
    pub(crate) fn learn(&mut self, index: &[IndexedWord]) -> bool {
        let mut corrected = false;
        let mut unknown: usize = 0;
        for mut word in std::mem::take(&mut self.0) {
            if let Some(indexed) = index.iter().find(|indexed| indexed.stem == word.stem) {
                word.passages = indexed.passages;
            } else if word.is_correctable() && unknown < RAG_CORRECTED_WORDS {
                unknown = unknown.saturating_add(1);
                if let Some(IndexedWord { stem, passages }) = correction(&word, index) {
                    word = Word { stem: stem.clone(), passages: *passages, ..word };
                    corrected = true;
                }
            }
            // The question may also contain the corrected word.
            if !self.contains(&word.stem) {
                self.0.push(word);
            }
        }
        corrected
    }

    /// Returns the stems of the words that are corrected if no passage contains them.
    pub(crate) fn correctable(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|word| word.is_correctable()).map(|word| word.stem.as_str())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|word| (word.stem.as_str(), word.passages))
    }

    fn contains(&self, stem: &str) -> bool {
        self.stems().any(|other| other == stem)
    }
}

impl Word {
    fn is_correctable(&self) -> bool {
        self.is_long && self.stem.len() >= CORRECTED_STEM && is_english(&self.stem)
    }
}

fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// Returns the word of the index that `word` is a misspelling of, if there is one.
fn correction<'i>(word: &Word, index: &'i [IndexedWord]) -> Option<&'i IndexedWord> {
    let resembles = |indexed: &&IndexedWord| {
        let other = indexed.stem.as_str();
        is_english(other)
            && beginning(other) == beginning(&word.stem)
            && one_edit_apart(word.stem.as_bytes(), other.as_bytes())
    };
    let similar = index.iter().filter(resembles);
    similar.max_by(|a, b| a.passages.cmp(&b.passages).then_with(|| b.stem.cmp(&a.stem)))
}

/// Returns whether the word consists of the letters of English.
fn is_english(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Returns the letters of a stem that are not corrected.
pub(crate) fn beginning(stem: &str) -> Option<&str> {
    stem.get(..CORRECT_LETTERS)
}

/// Returns whether one letter is replaced, missing or added, or two adjacent letters are swapped.
fn one_edit_apart(mut a: &[u8], mut b: &[u8]) -> bool {
    while let ([first_of_a, rest_of_a @ ..], [first_of_b, rest_of_b @ ..]) = (a, b)
        && first_of_a == first_of_b
    {
        (a, b) = (rest_of_a, rest_of_b);
    }
    match (a, b) {
        ([_, a @ ..], [_, b @ ..]) if a == b => true,
        ([a1, a2, a @ ..], [b1, b2, b @ ..]) if a1 == b2 && a2 == b1 && a == b => true,
        ([_, rest @ ..], other) if rest == other => true,
        (other, [_, rest @ ..]) => rest == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(words: &[(&str, u64)]) -> Vec<IndexedWord> {
        words.iter().map(|&(stem, passages)| IndexedWord { stem: stem.into(), passages }).collect()
    }

    fn stems(words: &Words) -> Vec<&str> {
        words.stems().collect()
    }

    /// R70: nothing in a question is an operator.
    #[test]
    fn punctuation_only_separates_words() {
        const QUESTIONS: &[(&str, &[&str])] = &[
            ("rotate the state key", &["rotat", "state", "kei"]),
            ("MCP_STATE_KEY tools/call", &["mcp", "state", "kei", "tool", "call"]),
            ("\"quoted\" NEAR(a b, 2) title:x*", &["quot", "near", "b", "2", "titl", "x"]),
            ("Éléphant, éléphants AND \u{0}", &["eleph"]),
            ("'; DROP TABLE x; --", &["drop", "tabl", "x"]),
            ("日本語 🎉", &["日本", "日", "本語", "本", "語", "🎉"]),
            ("\u{301} …", &[]),
            ("", &[]),
        ];
        for (question, expected) in QUESTIONS {
            assert_eq!(stems(&Words::of(question)), *expected, "{question:?}");
        }
    }

    #[test]
    fn stop_words_are_searched_for_only_if_there_are_no_other_words() {
        assert_eq!(stems(&Words::of("How do I rotate this?")), ["rotat"]);
        assert_eq!(stems(&Words::of("How do I do this?")), ["how", "do", "i", "thi"]);
        assert!(Words::of("?").is_empty());
    }

    #[test]
    fn a_stem_is_searched_for_once() {
        assert_eq!(stems(&Words::of("key keys KEY rotate rotating")), ["kei", "rotat"]);
    }

    /// R70: at most 64 distinct words.
    #[test]
    fn further_words_of_a_long_question_are_ignored() {
        let words: Vec<_> = (0..1000).map(|number| format!("w{number}")).collect();
        assert_eq!(Words::of(&words.join(" ")).stems().count(), RAG_QUERY_WORDS);
    }

    #[test]
    fn a_misspelled_word_is_corrected() {
        const CORRECTIONS: &[(&str, &str, Option<&str>)] = &[
            ("introspektion", "introspect", Some("introspect")),
            ("tempalte", "templat", Some("templat")),
            ("variabels", "variabl", Some("variabl")),
            ("autorization", "author", Some("author")),
            ("databaase", "databas", Some("databas")),
            // Two letters differ.
            ("introzpektion", "introspect", None),
            // The difference is in the first two letters.
            ("konfiguration", "configur", None),
            // The word is short.
            ("bloop", "bloom", None),
            ("loops", "look", None),
            ("loosed", "loop", None),
            // A word with digits is not corrected, and is not a correction.
            ("templ4te", "templat", None),
            ("template", "temp1at", None),
            ("москве", "москва", None),
        ];
        for (question, indexed, expected) in CORRECTIONS {
            let mut words = Words::of(question);
            let before = words.clone();
            assert_eq!(words.learn(&index(&[(indexed, 3)])), expected.is_some(), "{question}");
            match expected {
                Some(expected) => assert_eq!(words.iter().collect::<Vec<_>>(), [(*expected, 3)]),
                None => assert_eq!(words, before),
            }
        }
    }

    #[test]
    fn a_word_of_the_index_is_not_corrected() {
        let mut words = Words::of("attacks");
        assert!(!words.learn(&index(&[("attach", 9), ("attack", 1)])));
        assert_eq!(words.iter().collect::<Vec<_>>(), [("attack", 1)]);
    }

    #[test]
    fn further_unknown_words_are_not_corrected() {
        let mut words = Words::of("tempalte introspektion variabels databaase autorization");
        assert!(words.learn(&index(&[
            ("templat", 1),
            ("introspect", 1),
            ("variabl", 1),
            ("databas", 1),
            ("author", 1)
        ])));
        assert_eq!(stems(&words), ["templat", "introspect", "variabl", "databas", "autor"]);
    }

    #[test]
    fn the_most_frequent_correction_is_taken() {
        let mut words = Words::of("tempalte");
        assert!(words.learn(&index(&[("tempal", 1), ("templat", 7), ("tempala", 7)])));
        assert_eq!(stems(&words), ["tempala"]);
    }

    #[test]
    fn a_correction_that_the_question_contains_too_is_searched_for_once() {
        let mut words = Words::of("template tempalte");
        assert!(words.learn(&index(&[("templat", 7)])));
        assert_eq!(stems(&words), ["templat"]);
    }
}
