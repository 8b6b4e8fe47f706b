//! The order of the passages that a store found.
//!
//! A store by words chooses passages by [impacts](super::impact), which are BM25 with rounded numbers. This module orders them again by their
//! [scores](crate::words::score). A passage of a section that already has a better passage counts less, so that the first results come
//! from several sections.

use super::order::{descending, ordered};
use super::passage::{HEADING_SEPARATOR, Passage};
use super::search_result::{FoundPassage, SearchResult};
use crate::words::query::Words;
use crate::words::score::{self, Headed};

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
    score::scores(asked, number, passages.iter().map(headed))
}

fn headed(passage: &Passage) -> Headed<'_> {
    let heading = passage.heading.rsplit(HEADING_SEPARATOR).next().unwrap_or_default();
    Headed { path: &passage.heading, heading, text: &passage.text }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::query::IndexedWord;

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
