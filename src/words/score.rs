//! How well texts match the words of a question: BM25 with two differences.
//!
//! - The weight of a word is the square root of its weight in BM25. Questions contain words that are rare in the texts and say little about
//!   the subject ("flaky", "hammering"). In BM25 such a word outweighs two words of the subject.
//! - Words of a text's own heading count more than words of the headings above it.

use super::query::Words;
use super::split::{fold, is_unspaced, words};
use super::stem::stem;

/// How often a word of the own heading counts, in addition to the word in the path of headings.
const OWN_HEADING: f64 = 3.0;
/// The parameter `k1` of BM25: how fast further occurrences of a word lose importance.
const SATURATION: f64 = 1.2;
/// The parameter `b` of BM25: the influence of the length of a text.
const LENGTH: f64 = 0.75;
/// The least weight of a word before the square root. BM25 gives none to a word that most texts contain.
const LEAST_WEIGHT: f64 = 0.05;

/// A text with its headings.
pub(crate) struct Headed<'t> {
    /// The path of headings, with the own heading.
    pub(crate) path: &'t str,
    pub(crate) heading: &'t str,
    pub(crate) text: &'t str,
}

/// Returns how well texts match the words of a question, from 0 to 1. The words know how many of all `number` texts contain them.
#[cfg(feature = "rag")]
pub(crate) fn scores<'t>(asked: &Words, number: u64, texts: impl Iterator<Item = Headed<'t>>) -> Vec<f64> {
    let counted: Vec<_> = texts.map(|text| WordCounts::new(asked, &text)).collect();
    let weights: Vec<_> = asked.iter().map(|(_, containing)| weight(containing, number)).collect();
    scored(&counted, &weights)
}

/// Returns how well texts match the words of a question, from 0 to 1. These are all texts, so no other text affects a score.
#[cfg(feature = "gateway")]
pub(crate) fn scores_among<'t>(asked: &Words, texts: impl Iterator<Item = Headed<'t>>) -> Vec<f64> {
    let counted: Vec<_> = texts.map(|text| WordCounts::new(asked, &text)).collect();
    let number = u64::try_from(counted.len()).unwrap_or(u64::MAX);
    let containing =
        |nth: usize| counted.iter().filter(|text| text.contains(nth)).fold(0_u64, |sum, _| sum.saturating_add(1));
    let weights: Vec<_> = asked.stems().enumerate().map(|(nth, _)| weight(containing(nth), number)).collect();
    scored(&counted, &weights)
}

fn scored(counted: &[WordCounts], weights: &[f64]) -> Vec<f64> {
    let (length, count) = counted.iter().fold((0.0, 0.0), |(length, count), text| (length + text.length, count + 1.0));
    let mean_length = length / f64::max(count, 1.0);
    let most = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    counted.iter().map(|text| text.score(weights, mean_length) / most).collect()
}

/// The weight of a word that `containing` of `texts` contain.
// Rounding does not matter beyond 2^53 texts.
#[allow(clippy::cast_precision_loss)]
fn weight(containing: u64, texts: u64) -> f64 {
    let (containing, texts) = (containing as f64, texts as f64);
    let rarity = ((texts - containing).max(0.0) + 0.5) / (containing + 0.5);
    rarity.ln().max(LEAST_WEIGHT).sqrt()
}

/// A text, as its score needs it.
struct WordCounts {
    /// For each word of the question, how often it occurs. Occurrences in headings count more.
    occurrences: Vec<f64>,
    /// The number of words.
    length: f64,
}

impl WordCounts {
    fn new(asked: &Words, text: &Headed<'_>) -> Self {
        let mut counted = Self { occurrences: vec![0.0; asked.stems().count()], length: 0.0 };
        counted.length = counted.add(asked, text.text, 1.0) + counted.add(asked, text.path, 1.0);
        counted.add(asked, text.heading, OWN_HEADING);
        counted
    }

    /// Counts the words of the question in a text, and returns the number of all words.
    fn add(&mut self, asked: &Words, text: &str, times: f64) -> f64 {
        let mut length = 0.0;
        for word in words(text) {
            length += 1.0;
            if !may_occur(asked, word) {
                continue;
            }
            let stem = stem(&fold(word));
            for (wanted, count) in asked.stems().zip(&mut self.occurrences) {
                if wanted == stem {
                    *count += times;
                }
            }
        }
        length
    }

    /// Returns whether the word `nth` of the question occurs.
    #[cfg(feature = "gateway")]
    fn contains(&self, nth: usize) -> bool {
        self.occurrences.get(nth).is_some_and(|count| *count > 0.0)
    }

    fn score(&self, weights: &[f64], mean_length: f64) -> f64 {
        let relative_length = self.length / mean_length.max(1.0);
        let half = SATURATION * (1.0 - LENGTH + LENGTH * relative_length);
        self.occurrences.iter().zip(weights).map(|(count, weight)| weight * count / (count + half)).sum()
    }
}

/// Returns whether the word may have a stem of the question, so that most words need no stem. The first letter of a word and of its stem are
/// equal in ASCII. A word of a script without spaces is its own stem.
fn may_occur(asked: &Words, word: &str) -> bool {
    match word.chars().next() {
        Some(first) if is_unspaced(first) => asked.stems().any(|stem| stem == word),
        Some(first) if first.is_ascii() => asked.stems().any(|stem| stem.starts_with(first.to_ascii_lowercase())),
        first => first.is_some(),
    }
}
