//! The order of the passages that a store found.
//!
//! A store by words chooses passages by [impacts](super::impact), which are BM25 with rounded numbers. This module orders them again, by BM25 with
//! three differences:
//!
//! - The weight of a word is the square root of its weight in BM25. Questions contain words that are rare in the documents and say
//!   little about the subject ("flaky", "hammering"). In BM25 such a word outweighs two words of the subject.
//! - Words of a passage's own heading count more than words of the headings above it.
//! - A passage of a section that already has a better passage counts less, so that the first results come from several sections.

use super::query::Words;
use super::split::{fold, words};
use super::stem::stem;
use crate::rag::order::{descending, ordered};
use crate::rag::passage::{HEADING_SEPARATOR, Passage};
use crate::rag::search_result::{FoundPassage, SearchResult};

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

/// The passages that a store found by the words of a question.
#[derive(Default)]
pub(in crate::rag) struct ByWords {
    /// The words of the question, which have [learned](Words::learn) from the index.
    pub(in crate::rag) words: Words,
    /// The number of passages that the caller can see.
    pub(in crate::rag) number: u64,
    /// The passages.
    pub(in crate::rag) passages: Vec<Passage>,
}

impl ByWords {
    /// Orders the passages by how well they match the words, the best first. Passages with equal scores stay in their order.
    pub(in crate::rag) fn ranked(self) -> SearchResult {
        let Self { words, number, passages } = self;
        if words.is_empty() {
            return SearchResult::of_no_words();
        }
        let scores = scores(&words, number, &passages);
        let found = passages.into_iter().zip(scores).map(|(passage, score)| {
            let mut found = FoundPassage::new(passage, score);
            found.lexical = Some(score);
            found
        });
        let mut ranked = best_first(found.collect());
        spread_over_sections(&mut ranked);
        SearchResult::new(best_first(ranked))
    }
}

/// Returns how well passages match the words of a question, from 0 to 1.
pub(in crate::rag) fn scores(asked: &Words, number: u64, passages: &[Passage]) -> Vec<f64> {
    let counted: Vec<_> = passages.iter().map(|passage| Counted::new(asked, passage)).collect();
    let (length, count) =
        counted.iter().fold((0.0, 0.0), |(length, count), passage| (length + passage.length, count + 1.0));
    let mean_length = length / f64::max(count, 1.0);
    let weights: Vec<_> = asked.iter().map(|(_, containing)| weight(containing, number)).collect();
    let most = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    counted.iter().map(|passage| passage.score(&weights, mean_length) / most).collect()
}

/// Lowers the score of each passage whose section has better passages. The best passage must come first.
pub(in crate::rag) fn spread_over_sections(ranked: &mut [FoundPassage]) {
    let mut sections: Vec<(String, String)> = Vec::new();
    for FoundPassage { passage, score, .. } in ranked {
        let section = (passage.document.clone(), passage.heading.clone());
        let better = sections.iter().filter(|other| **other == section).count();
        *score *= SAME_SECTION.powi(i32::try_from(better).unwrap_or(i32::MAX));
        sections.push(section);
    }
}

/// Orders passages by their scores, and by their similarities if the scores are equal. Other passages stay in their order.
pub(in crate::rag) fn best_first(found: Vec<FoundPassage>) -> Vec<FoundPassage> {
    ordered(found, |found| [descending(found.score), descending(found.similarity.unwrap_or_default()), 0])
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
    /// For each word of the question, how often it occurs. Occurrences in headings count more.
    occurrences: Vec<f64>,
    /// The number of words.
    length: f64,
}

impl Counted {
    fn new(asked: &Words, passage: &Passage) -> Self {
        let mut counted = Self { occurrences: vec![0.0; asked.stems().count()], length: 0.0 };
        let own_heading = passage.heading.rsplit(HEADING_SEPARATOR).next().unwrap_or_default();
        counted.length = counted.add(asked, &passage.text, 1.0) + counted.add(asked, &passage.heading, 1.0);
        counted.add(asked, own_heading, OWN_HEADING);
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

    fn score(&self, weights: &[f64], mean_length: f64) -> f64 {
        let relative_length = self.length / mean_length.max(1.0);
        let half = SATURATION * (1.0 - LENGTH + LENGTH * relative_length);
        self.occurrences.iter().zip(weights).map(|(count, weight)| weight * count / (count + half)).sum()
    }
}

/// Returns whether a stem begins like the word. The first letter of a word and of its stem are equal, so most words need no stem.
fn may_occur(asked: &Words, word: &str) -> bool {
    let first = word.bytes().next().map(|byte| byte.to_ascii_lowercase());
    first.is_some_and(|first| !first.is_ascii()) || asked.stems().any(|stem| stem.bytes().next() == first)
}

#[cfg(test)]
mod tests {
    use super::super::query::IndexedWord;
    use super::*;

    const PASSAGES: u64 = 100;

    /// Returns the texts of the passages in their new order.
    fn order(question: &str, counts: &[(&str, u64)], passages: &[Passage]) -> Vec<String> {
        ranked(question, counts, passages).into_iter().map(|found| found.passage.text).collect()
    }

    fn ranked(question: &str, counts: &[(&str, u64)], passages: &[Passage]) -> Vec<FoundPassage> {
        let mut words = Words::of(question);
        let index: Vec<_> =
            counts.iter().map(|&(stem, passages)| IndexedWord { stem: stem.into(), passages }).collect();
        words.learn(&index);
        ByWords { words, number: PASSAGES, passages: passages.to_vec() }.ranked().passages
    }

    fn passage(heading: &str, text: &str) -> Passage {
        Passage { document: "tea".into(), heading: heading.into(), text: text.into(), ..Passage::default() }
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
        assert_eq!(ranked[0].passage.heading, "Tea > Notes > Steeping");
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
        let [one, two, three] = candidates;
        let candidates = [one, Passage { document: "pots".into(), ..two }, three];
        assert_eq!(order("tea", &[("tea", 9)], &candidates), ["tea tea tea", "tea tea on", "tea or not"]);
    }

    /// R11: scores are from 0 to 1, and equal calls give equal results.
    #[test]
    fn scores_are_from_0_to_1_and_equal_scores_keep_their_order() {
        let long = "tea ".repeat(10_000);
        let candidates = [passage("A", "tea x"), passage("B", "x tea"), passage("C > tea", &long), passage("D", "")];
        for counts in [&[("tea", 9)][..], &[("tea", PASSAGES)], &[("tea", u64::MAX)], &[]] {
            let ranked = ranked("tea and pots", counts, &candidates);
            assert!(ranked.iter().all(|found| (0.0..=1.0).contains(&found.score)), "{ranked:?}");
            let position = |heading| ranked.iter().position(|found| found.passage.heading == heading);
            assert!(position("A") < position("B"), "{ranked:?}");
            assert!(ranked[3].passage.heading == "D" && ranked[3].score == 0.0);
        }
        assert_eq!(ranked("", &[], &candidates), []);
        assert_eq!(ranked("tea", &[], &[]), []);
    }
}
