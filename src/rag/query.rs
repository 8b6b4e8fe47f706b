//! From a question to the words that are searched for, and to an expression of FTS5.
//!
//! A store uses a [`Query`] in three steps:
//!
//! 1. It reads how many of the passages that the caller can see contain each of the [stems](Query::stems), and the words of these passages
//!    that resemble them.
//! 2. [`Query::learn`] takes these words. It notes how frequent each word of the question is, and corrects words that no passage contains.
//! 3. It searches for the stems, and [`rank`](super::rescore::rank) orders the passages that were found.
//!
//! The first and the third step can run at the same time, with the original question. The store repeats the search if `learn` corrects a
//! word.

use super::stem::stem;
use super::words::{fold, words};
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
///
/// ```
/// use edge_mcp::rag::{IndexedWord, Query};
///
/// let mut query = Query::new("How do I rotate the sttate key?");
/// assert_eq!(query.expression(), r#""rotate" OR "sttate" OR "key""#);
///
/// let index = ["rotat", "state", "kei"].map(|stem| IndexedWord { stem: stem.into(), passages: 3 });
/// assert!(query.learn(&index));
/// assert_eq!(query.expression(), r#""rotate" OR "state" OR "key""#);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    words: Vec<QueryWord>,
}

/// A word of a question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct QueryWord {
    word: String,
    pub(super) stem: String,
    /// The number of passages that contain the stem, of those that the caller can see.
    pub(super) passages: u64,
}

/// A word of the passages that a caller can see.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexedWord {
    /// The stem.
    pub stem: String,
    /// The number of passages that contain it.
    pub passages: u64,
}

impl Query {
    /// Reads the words of a question. Punctuation only separates words, so no part of a question is an operator.
    pub fn new(question: &str) -> Self {
        let said: Vec<_> = words(question).map(fold).filter(|word| !word.is_empty()).collect();
        let only_stop_words = said.iter().all(|word| is_stop_word(word));
        let mut query = Self { words: Vec::new() };
        for word in said.iter().filter(|word| only_stop_words || !is_stop_word(word)) {
            let stem = stem(word);
            if query.words.len() < RAG_QUERY_WORDS && !query.contains(&stem) {
                query.words.push(QueryWord { word: word.to_string(), stem, passages: 0 });
            }
        }
        query
    }

    /// Whether the question has no words.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The stems of the words, each once.
    pub fn stems(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| word.stem.as_str())
    }

    /// Returns an expression of FTS5 that matches passages with any of the words. It is empty if the query is empty. Each word is
    /// an FTS5 string and contains only letters and digits.
    pub fn expression(&self) -> String {
        let mut expression = String::new();
        for QueryWord { word, .. } in &self.words {
            if !expression.is_empty() {
                expression.push_str(" OR ");
            }
            expression.extend(["\"", word, "\""]);
        }
        expression
    }

    /// Takes words of the index: the stems of this query, and words that resemble them. Returns whether it corrected a word, which
    /// changes the expression.
    ///
    /// A word that no passage contains is replaced by a word that differs by one letter, or by the order of two adjacent letters. If
    /// several words do, the one in most passages is taken. At most the first 4 words that no passage contains are corrected.
    ///
    /// The words must come only from passages that the caller can see, because the caller sees the correction.
    pub fn learn(&mut self, index: &[IndexedWord]) -> bool {
        let mut corrected = false;
        let mut unknown: usize = 0;
        for mut word in std::mem::take(&mut self.words) {
            if let Some(indexed) = index.iter().find(|indexed| indexed.stem == word.stem) {
                word.passages = indexed.passages;
            } else if word.is_correctable() && unknown < RAG_CORRECTED_WORDS {
                unknown = unknown.saturating_add(1);
                if let Some(correct) = correction(&word, index) {
                    word = correct;
                    corrected = true;
                }
            }
            // The question may also contain the corrected word.
            if !self.contains(&word.stem) {
                self.words.push(word);
            }
        }
        corrected
    }

    /// The stems of the words that are corrected if no passage contains them.
    pub(super) fn correctable(&self) -> impl Iterator<Item = &str> {
        self.words.iter().filter(|word| word.is_correctable()).map(|word| word.stem.as_str())
    }

    pub(super) fn words(&self) -> &[QueryWord] {
        &self.words
    }

    fn contains(&self, stem: &str) -> bool {
        self.stems().any(|other| other == stem)
    }
}

impl QueryWord {
    fn is_correctable(&self) -> bool {
        self.word.len() >= CORRECTED_WORD && self.stem.len() >= CORRECTED_STEM && is_english(&self.stem)
    }
}

fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// Returns the word of the index that `word` is a misspelling of, if there is one.
fn correction(word: &QueryWord, index: &[IndexedWord]) -> Option<QueryWord> {
    let resembles = |indexed: &&IndexedWord| {
        let other = indexed.stem.as_str();
        is_english(other)
            && beginning(other) == beginning(&word.stem)
            && one_edit_apart(word.stem.as_bytes(), other.as_bytes())
    };
    let (better, passages) = (index.iter().filter(resembles))
        .filter_map(|indexed| Some((word_with_stem(&indexed.stem)?, indexed.passages)))
        .max_by(|(a, in_a), (b, in_b)| in_a.cmp(in_b).then_with(|| b.cmp(a)))?;
    Some(QueryWord { stem: stem(&better), word: better, passages })
}

/// Returns a word that has this stem. FTS5 stems each word of an expression, and a stem may have another stem: the stem of
/// "database" is "databas", and the stem of "databas" is "databa".
fn word_with_stem(wanted: &str) -> Option<String> {
    ["", "e"].into_iter().map(|end| format!("{wanted}{end}")).find(|word| stem(word) == wanted)
}

/// Whether the word consists of the letters of English.
fn is_english(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Returns the letters of a stem that are not corrected.
pub(super) fn beginning(stem: &str) -> Option<&str> {
    stem.get(..CORRECT_LETTERS)
}

/// Whether one letter is replaced, missing or added, or two adjacent letters are swapped.
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

    fn stems(query: &Query) -> Vec<&str> {
        query.stems().collect()
    }

    /// R70: nothing in a question is an operator.
    #[test]
    fn an_expression_contains_the_words_as_strings() {
        const EXPRESSIONS: &[(&str, &str)] = &[
            ("rotate the state key", r#""rotate" OR "state" OR "key""#),
            ("MCP_STATE_KEY tools/call", r#""mcp" OR "state" OR "key" OR "tools" OR "call""#),
            ("\"quoted\" NEAR(a b, 2) title:x*", r#""quoted" OR "near" OR "b" OR "2" OR "title" OR "x""#),
            ("Éléphant, éléphants AND \u{0}", r#""elephant""#),
            ("'; DROP TABLE x; --", r#""drop" OR "table" OR "x""#),
            ("日本語 🎉", r#""日本語""#),
            ("\u{301} …", ""),
            ("", ""),
        ];
        for (question, expected) in EXPRESSIONS {
            assert_eq!(Query::new(question).expression(), *expected, "{question:?}");
        }
    }

    #[test]
    fn stop_words_are_searched_for_only_if_there_are_no_other_words() {
        assert_eq!(stems(&Query::new("How do I rotate this?")), ["rotat"]);
        assert_eq!(stems(&Query::new("How do I do this?")), ["how", "do", "i", "thi"]);
        assert!(Query::new("?").is_empty());
    }

    #[test]
    fn a_stem_is_searched_for_once() {
        assert_eq!(stems(&Query::new("key keys KEY rotate rotating")), ["kei", "rotat"]);
    }

    /// R70: at most 64 distinct words.
    #[test]
    fn further_words_of_a_long_question_are_ignored() {
        let words: Vec<_> = (0..1000).map(|number| format!("w{number}")).collect();
        assert_eq!(Query::new(&words.join(" ")).stems().count(), RAG_QUERY_WORDS);
    }

    #[test]
    fn a_misspelled_word_is_corrected() {
        const CORRECTIONS: &[(&str, &str, Option<&str>)] = &[
            ("introspektion", "introspect", Some("introspect")),
            ("tempalte", "templat", Some("templat")),
            ("variabels", "variabl", Some("variabl")),
            ("autorization", "author", Some("author")),
            ("databaase", "databas", Some("database")),
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
            ("日本語文", "日本語", None),
        ];
        for (question, indexed, expected) in CORRECTIONS {
            let mut query = Query::new(question);
            let before = query.clone();
            assert_eq!(query.learn(&index(&[(indexed, 3)])), expected.is_some(), "{question}");
            match expected {
                Some(expected) => assert_eq!(query.expression(), format!("\"{expected}\"")),
                None => assert_eq!(query, before),
            }
        }
    }

    #[test]
    fn a_word_of_the_index_is_not_corrected() {
        let mut query = Query::new("attacks");
        assert!(!query.learn(&index(&[("attach", 9), ("attack", 1)])));
        assert_eq!((query.expression().as_str(), query.words()[0].passages), ("\"attacks\"", 1));
    }

    #[test]
    fn further_unknown_words_are_not_corrected() {
        let mut query = Query::new("tempalte introspektion variabels databaase autorization");
        assert!(query.learn(&index(&[
            ("templat", 1),
            ("introspect", 1),
            ("variabl", 1),
            ("databas", 1),
            ("author", 1)
        ])));
        assert_eq!(stems(&query), ["templat", "introspect", "variabl", "databas", "autor"]);
    }

    #[test]
    fn the_most_frequent_correction_is_taken() {
        let mut query = Query::new("tempalte");
        assert!(query.learn(&index(&[("tempal", 1), ("templat", 7), ("tempala", 7)])));
        assert_eq!(stems(&query), ["tempala"]);
    }

    #[test]
    fn the_expression_has_a_word_with_the_stem_of_the_correction() {
        assert_eq!(word_with_stem("templat").as_deref(), Some("templat"));
        assert_eq!(word_with_stem("respons").as_deref(), Some("response"));
        assert_eq!(word_with_stem("capitall"), None);
    }

    #[test]
    fn a_correction_that_the_question_contains_too_is_searched_for_once() {
        let mut query = Query::new("template tempalte");
        assert!(query.learn(&index(&[("templat", 7)])));
        assert_eq!(stems(&query), ["templat"]);
    }
}
