//! The order of the passages that a store found.
//!
//! A store chooses passages by [impacts](super::impact), which are BM25 with rounded numbers. This module orders them again, by BM25 with
//! three differences:
//!
//! - The weight of a word is the square root of its weight in BM25. Questions contain words that are rare in the documents and say
//!   little about the subject ("flaky", "hammering"). In BM25 such a word outweighs two words of the subject.
//! - Words of a passage's own heading count more than words of the headings above it.
//! - A passage of a section that already has a better passage counts less, so that the first results come from several sections.

use super::order::{descending, ordered};
use super::query::Query;
use super::stem::stem;
use super::words::{fold, words};

/// Separates the headings of a passage.
pub(super) const HEADING_SEPARATOR: &str = " > ";

/// How often a word of the passage's own heading counts, in addition to the word in the path of headings.
const OWN_HEADING: f64 = 3.0;
/// The parameter `k1` of BM25: how fast further occurrences of a word lose importance.
const SATURATION: f64 = 1.2;
/// The parameter `b` of BM25: the influence of the length of a passage.
const LENGTH: f64 = 0.75;
/// The least weight of a word before the square root. BM25 gives none to a word that most passages contain.
const LEAST_WEIGHT: f64 = 0.05;
/// The factor of a passage for each better passage of the same section.
const SAME_SECTION: f64 = 0.7;

/// A passage that a store found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    /// The document.
    pub(super) document: &'a str,
    /// The path of headings: `Title > Section > Part`.
    pub(super) heading: &'a str,
    /// The text.
    pub(super) text: &'a str,
}

/// A passage in the order of [`rank`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ranked {
    /// The position of the passage in the list of candidates.
    pub(super) candidate: usize,
    /// The score, from 0 to 1. 1 would be a passage in which every word of the question occurs without end.
    pub(super) score: f64,
}

/// Orders passages by how well they match a query, the best first. Passages with equal scores stay in their order.
///
/// `passages` is the number of passages that the caller can see. Call [`Query::learn`] first, which sets the weights of the words.
pub(super) fn rank(query: &Query, passages: u64, candidates: &[Candidate<'_>]) -> Vec<Ranked> {
    let counted: Vec<_> = candidates.iter().map(|candidate| Counted::new(query, candidate)).collect();
    let (length, number) =
        counted.iter().fold((0.0, 0.0), |(length, number), passage| (length + passage.length, number + 1.0));
    let mean_length = length / f64::max(number, 1.0);
    let weights: Vec<_> = query.words().iter().map(|word| weight(word.passages, passages)).collect();
    let most = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let mut ranked: Vec<_> = (counted.iter().enumerate())
        .map(|(candidate, passage)| Ranked { candidate, score: passage.score(&weights, mean_length) / most })
        .collect();
    ranked = best_first(&ranked);
    spread_over_sections(&mut ranked, candidates);
    best_first(&ranked)
}

/// Lowers the score of each passage whose section has better passages. The best passage must come first.
fn spread_over_sections(ranked: &mut [Ranked], candidates: &[Candidate<'_>]) {
    let mut sections: Vec<(&str, &str)> = Vec::new();
    for Ranked { candidate, score } in ranked {
        let Some(passage) = candidates.get(*candidate) else { continue };
        let section = (passage.document, passage.heading);
        let better = sections.iter().filter(|other| **other == section).count();
        *score *= SAME_SECTION.powi(i32::try_from(better).unwrap_or(i32::MAX));
        sections.push(section);
    }
}

fn best_first(ranked: &[Ranked]) -> Vec<Ranked> {
    let number = |candidate| i64::try_from(candidate).unwrap_or(i64::MAX);
    ordered(ranked, |Ranked { candidate, score }| [descending(*score), number(*candidate), 0])
}

/// The weight of a word that `containing` of `passages` contain.
// Rounding does not matter beyond 2^53 passages.
#[allow(clippy::cast_precision_loss)]
fn weight(containing: u64, passages: u64) -> f64 {
    let (containing, passages) = (containing as f64, passages as f64);
    let rarity = ((passages - containing).max(0.0) + 0.5) / (containing + 0.5);
    rarity.ln().max(LEAST_WEIGHT).sqrt()
}

/// A passage, as its score needs it.
struct Counted {
    /// For each word of the query, how often it occurs. Occurrences in headings count more.
    occurrences: Vec<f64>,
    /// The number of words.
    length: f64,
}

impl Counted {
    fn new(query: &Query, passage: &Candidate<'_>) -> Self {
        let mut counted = Self { occurrences: vec![0.0; query.words().len()], length: 0.0 };
        let own_heading = passage.heading.rsplit(HEADING_SEPARATOR).next().unwrap_or_default();
        counted.length = counted.add(query, passage.text, 1.0) + counted.add(query, passage.heading, 1.0);
        counted.add(query, own_heading, OWN_HEADING);
        counted
    }

    /// Counts the words of the query in a text, and returns the number of all words.
    fn add(&mut self, query: &Query, text: &str, times: f64) -> f64 {
        let mut length = 0.0;
        for word in words(text) {
            length += 1.0;
            if !may_occur(query, word) {
                continue;
            }
            let stem = stem(&fold(word));
            for (asked, count) in query.stems().zip(&mut self.occurrences) {
                if asked == stem {
                    *count += times;
                }
            }
        }
        length
    }

    fn score(&self, weights: &[f64], mean_length: f64) -> f64 {
        let relative_length = self.length / mean_length.max(1.0);
        let half = SATURATION * (1.0 - LENGTH + LENGTH * relative_length);
        self.occurrences.iter().zip(weights).map(|(count, weight)| weight * count / (count + half)).sum()
    }
}

/// Whether a stem begins like the word. The first letter of a word and of its stem are equal, so most words need no stem.
fn may_occur(query: &Query, word: &str) -> bool {
    let first = word.bytes().next().map(|byte| byte.to_ascii_lowercase());
    first.is_some_and(|first| !first.is_ascii()) || query.stems().any(|stem| stem.bytes().next() == first)
}

#[cfg(test)]
mod tests {
    use super::super::query::IndexedWord;
    use super::*;

    const PASSAGES: u64 = 100;

    /// The candidates in their new order, by their texts.
    fn order<'a>(question: &str, counts: &[(&str, u64)], candidates: &[Candidate<'a>]) -> Vec<&'a str> {
        ranked(question, counts, candidates).into_iter().map(|ranked| candidates[ranked.candidate].text).collect()
    }

    fn ranked(question: &str, counts: &[(&str, u64)], candidates: &[Candidate<'_>]) -> Vec<Ranked> {
        let mut query = Query::new(question);
        let index: Vec<_> =
            counts.iter().map(|&(stem, passages)| IndexedWord { stem: stem.into(), passages }).collect();
        query.learn(&index);
        rank(&query, PASSAGES, candidates)
    }

    fn passage<'a>(heading: &'a str, text: &'a str) -> Candidate<'a> {
        Candidate { document: "tea", heading, text }
    }

    #[test]
    fn two_frequent_words_outweigh_a_rare_one() {
        let candidates = [passage("A", "one flaky thing here now"), passage("B", "order the tea two times")];
        assert_eq!(
            order("flaky order times", &[("flaki", 1), ("order", 20), ("time", 25)], &candidates),
            ["order the tea two times", "one flaky thing here now"]
        );
    }

    #[test]
    fn the_own_heading_counts_more_than_the_headings_above_and_these_count_like_text() {
        let candidates = [
            passage("Tea > Steeping > Notes", "the text below one title"),
            passage("Tea > Notes > Steeping", "a text under its heading"),
            passage("Tea > Notes > Others", "steeping leaves is in here"),
        ];
        let ranked = ranked("steeping", &[("steep", 3)], &candidates);
        assert_eq!(ranked[0].candidate, 1);
        assert!((ranked[1].score - ranked[2].score).abs() < 1e-12, "{ranked:?}");
    }

    #[test]
    fn forms_of_a_word_and_diacritics_do_not_matter() {
        let candidates = [passage("A", "nothing of it"), passage("B", "ÉCOLES connected")];
        assert_eq!(order("ecole", &[("ecol", 2)], &candidates)[0], "ÉCOLES connected");
        assert_eq!(order("Connecting", &[("connect", 2)], &candidates)[0], "ÉCOLES connected");
    }

    #[test]
    fn a_short_passage_comes_before_a_long_one() {
        let candidates = [passage("A", "tea and many other words that say something else"), passage("B", "tea pot")];
        assert_eq!(order("tea", &[("tea", 9)], &candidates)[0], "tea pot");
    }

    #[test]
    fn a_second_passage_of_a_section_counts_less() {
        let candidates = [passage("A", "tea tea tea"), passage("A", "tea tea on"), passage("B", "tea or not")];
        assert_eq!(order("tea", &[("tea", 9)], &candidates), ["tea tea tea", "tea or not", "tea tea on"]);
        let other_document = Candidate { document: "pots", ..candidates[1] };
        let candidates = [candidates[0], other_document, candidates[2]];
        assert_eq!(order("tea", &[("tea", 9)], &candidates), ["tea tea tea", "tea tea on", "tea or not"]);
    }

    /// R11: scores are from 0 to 1, and equal calls give equal results.
    #[test]
    fn scores_are_from_0_to_1_and_equal_scores_keep_their_order() {
        let long = "tea ".repeat(10_000);
        let candidates = [passage("A", "tea x"), passage("B", "x tea"), passage("C > tea", &long), passage("D", "")];
        for counts in [&[("tea", 9)][..], &[("tea", PASSAGES)], &[("tea", u64::MAX)], &[]] {
            let ranked = ranked("tea and pots", counts, &candidates);
            assert!(ranked.iter().all(|ranked| (0.0..=1.0).contains(&ranked.score)), "{ranked:?}");
            let position = |candidate| ranked.iter().position(|ranked| ranked.candidate == candidate);
            assert!(position(0) < position(1), "{ranked:?}");
            assert_eq!(ranked[3], Ranked { candidate: 3, score: 0.0 });
        }
        assert_eq!(ranked("", &[], &candidates).len(), 4);
        assert_eq!(ranked("tea", &[], &[]), []);
    }
}
