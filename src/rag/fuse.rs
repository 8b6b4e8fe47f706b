//! The order of passages that were found by their words and by their meaning.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::search_result::{FoundPassage, SearchMode, SearchResult};
use super::store::{Passage, PassageId};
use super::words::rank::{ByWords, best_first, scores, spread_over_sections};

/// The passages that are similar to a question.
pub(super) struct Similar {
    /// The passages that were not found by their words.
    pub(super) new: Vec<Passage>,
    /// The similarities of passages to the question, and their vectors if they are wanted.
    pub(super) similarities: BTreeMap<PassageId, (f64, Option<Rc<[f32]>>)>,
}

/// Orders passages by the sum of their scores by words and their similarities. `weight` is the weight of the similarity, and the words have the
/// rest. Both are used as they are: of several formulas that were measured, this one found most answers (docs/retrieval.md).
pub(super) fn fuse(by_words: ByWords, similar: Similar, weight: f64) -> SearchResult {
    let Similar { new, mut similarities } = similar;
    let ByWords { words, number, mut passages } = by_words;
    passages.extend(new);
    let has_words = !words.is_empty();
    let scores = scores(&words, number, &passages);
    let found = passages.into_iter().zip(scores).map(|(passage, lexical)| {
        let (similarity, vector) = similarities.remove(&passage.id).unzip();
        let score = (1.0 - weight) * lexical + weight * similarity.unwrap_or_default().max(0.0);
        let lexical = has_words.then_some(lexical);
        FoundPassage { lexical, similarity, vector: vector.flatten(), ..FoundPassage::new(passage, score) }
    });
    let mut found = best_first(found.collect());
    spread_over_sections(&mut found);
    let mode = if has_words { SearchMode::Hybrid } else { SearchMode::Vector };
    SearchResult { mode, ..SearchResult::new(best_first(found)) }
}
