//! The order of passages that were found by their words and by their meaning.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::order::{descending, ordered};
use super::passage::{Passage, PassageId};
use super::rank::{ByWords, best_first, scores, spread_over_sections};
use super::search::{Meaning, Search};
use super::search_result::{FoundPassage, SearchMode, SearchResult};
use super::store::SearchStore;
use super::store_error::StoreError;
use super::vectors::int8::Int8;

/// How similar passages are to a question, the most similar first.
#[derive(Default)]
pub(super) struct Similarities(Vec<(PassageId, f64, Int8)>);

impl Similarities {
    pub(super) fn new(question: &[f32], vectors: Vec<(PassageId, Int8)>) -> Self {
        let question = Int8::of(question);
        let similarities = vectors.into_iter().map(|(id, vector)| (id, question.cosine(&vector), vector));
        Self(ordered(similarities.collect(), |(id, cosine, _)| [descending(*cosine), *id, 0]))
    }

    /// Returns those of the `most` most similar passages that were not found by their words.
    fn new_passages(&self, by_words: &ByWords, meaning: &Meaning, most: usize) -> Vec<PassageId> {
        let known: BTreeSet<_> = by_words.passages.iter().map(|passage| passage.id).collect();
        let is_similar = |cosine: f64| meaning.min_score.is_none_or(|least| cosine >= least);
        let nearest = self.0.iter().take(most).filter(|(id, cosine, _)| is_similar(*cosine) && !known.contains(id));
        nearest.map(|(id, ..)| *id).collect()
    }
}

/// Returns the result of a search by meaning. `similar` is empty if no passage has a vector, or if the question has none.
///
/// # Errors
/// The search by meaning failed, and the passages must not be found by their words alone.
pub(super) async fn by_meaning(
    store: &dyn SearchStore,
    by_words: ByWords,
    similar: Result<Similarities, StoreError>,
    search: &Search,
    meaning: &Meaning,
) -> Result<SearchResult, StoreError> {
    let read = async {
        let similar = similar?;
        if similar.0.is_empty() {
            return Ok(None);
        }
        let new = similar.new_passages(&by_words, meaning, search.most);
        Ok(Some((store.passages(&search.space, &new, &search.filter).await?, similar)))
    };
    match read.await {
        Ok(Some((new, similar))) => {
            let mut found = fused(by_words, similar, new, meaning);
            found.passages.truncate(search.most);
            Ok(found)
        }
        Ok(None) if meaning.is_required() => {
            // The search by words fails if the index does not exist.
            store.search(Search { meaning: None, ..search.clone() }).await?;
            Ok(SearchResult { mode: SearchMode::Vector, ..SearchResult::default() })
        }
        Ok(None) => Ok(by_words.ranked()),
        Err(error) if meaning.is_required() => Err(error),
        Err(error) => Ok(SearchResult { fallback: Some(error), ..by_words.ranked() }),
    }
}

/// Orders passages by the weighted sum of their scores by words and their similarities. Both are used as they are: of several formulas that
/// were measured, this one found most answers (docs/retrieval.md).
fn fused(by_words: ByWords, similarities: Similarities, new: Vec<Passage>, meaning: &Meaning) -> SearchResult {
    let weight = meaning.weight;
    let ByWords { words, number, mut passages } = by_words;
    passages.extend(new);
    let mut similarities: BTreeMap<_, _> =
        similarities.0.into_iter().map(|(id, cosine, vector)| (id, (cosine, vector))).collect();
    let has_words = !words.is_empty();
    let scores = scores(&words, number, &passages);
    let found = passages.into_iter().zip(scores).map(|(passage, lexical)| {
        let (similarity, vector) = similarities.remove(&passage.id).unzip();
        let score = (1.0 - weight) * lexical + weight * similarity.unwrap_or_default().max(0.0);
        let vector = vector.filter(|_| meaning.include_vectors).map(|vector| Rc::from(vector.to_floats()));
        FoundPassage { lexical: has_words.then_some(lexical), similarity, vector, ..FoundPassage::new(passage, score) }
    });
    let mut found = best_first(found.collect());
    spread_over_sections(&mut found);
    let mode = if has_words { SearchMode::Hybrid } else { SearchMode::Vector };
    SearchResult { mode, ..SearchResult::new(best_first(found)) }
}
