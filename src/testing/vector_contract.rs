//! The contract of a store of vectors: the promises of [`VectorStore`].

use std::rc::Rc;

use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};

use super::passage_contract::{documents, ensure, failed, filters, space};
use super::{TestHost, context, passage_store_contract};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::rag::{
    Embedder, Filter, GraphOptions, PassageId, Purpose, Retriever, Search, SearchResult, SearchScope, StoreFailure,
    VectorStore,
};

/// The embedding model of the contract: a dimension for each of these words.
#[derive(Clone, Copy)]
struct ContractEmbedder;

const WORDS: [&str; 7] = ["zephyr", "kettle", "lemon", "clay", "secret", "iron", "ice"];
/// The name of the model, and that of another one.
const MODEL: &str = "contract-words";
const OTHER_MODEL: &str = "contract-other";
/// More passages than the contract has.
const MOST: usize = 50;

fn vector(text: &str) -> Vec<f32> {
    // No vector is zero.
    WORDS.iter().map(|word| text.matches(word).fold(0.1, |count, _| count + 1.0)).collect()
}

impl Embedder for ContractEmbedder {
    fn model(&self) -> String {
        MODEL.to_owned()
    }

    fn embed(
        &self,
        texts: Vec<String>,
        _: Purpose,
        _: &Context,
    ) -> LocalBoxFuture<'static, Result<Vec<Vec<f32>>, HandlerError>> {
        ready(Ok(texts.iter().map(|text| vector(text)).collect())).boxed_local()
    }
}

/// Checks that a store of vectors keeps the promises of [`VectorStore`], and those of [`passage_store_contract`]. Returns the answers of the
/// store, one on each line.
///
/// Among the answers are those of a search by meaning and of a [graph](Retriever::graph).
///
/// ```
/// use std::rc::Rc;
///
/// use edge_mcp::rag::MemoryStore;
/// use edge_mcp::testing::{self, vector_store_contract};
///
/// testing::run(async {
///     let answers = vector_store_contract(&Rc::new(MemoryStore::new())).await.unwrap();
///     assert!(answers.iter().any(|answer| answer.contains("by connections")));
/// });
/// ```
///
/// # Errors
/// A sentence about the first promise that the store does not keep.
pub async fn vector_store_contract<S: VectorStore + ?Sized + 'static>(store: &Rc<S>) -> Result<Vec<String>, String> {
    let answers = passage_store_contract(&**store).await?;
    let mut contract = VectorContract { store, answers };
    for (at, document) in documents() {
        store.save(&space(at), &document).await.map_err(failed("`save`"))?;
    }
    contract.pending().await?;
    contract.search().await?;
    contract.other_model().await?;
    for (at, document) in documents() {
        store.remove(&space(at), &document.name).await.map_err(failed("`remove`"))?;
        store.remove_vectors(&space(at).index).await.map_err(failed("`remove_vectors`"))?;
    }
    Ok(contract.answers)
}

struct VectorContract<'s, S: ?Sized> {
    store: &'s Rc<S>,
    answers: Vec<String>,
}

impl<S: VectorStore + ?Sized + 'static> VectorContract<'_, S> {
    async fn counts(&self, at: usize) -> Result<(Vec<PassageId>, usize, usize), String> {
        let pending = self.store.pending(&space(at), MODEL, MOST).await.map_err(failed("`pending`"))?;
        Ok((pending.passages.iter().map(|passage| passage.id).collect(), pending.count, pending.refused))
    }

    /// Saves a vector for each passage, and refuses one of them first.
    async fn pending(&mut self) -> Result<(), String> {
        let (ids, count, refused) = self.counts(0).await?;
        ensure((ids.len(), count, refused) == (7, 7, 0), || {
            format!("All 7 passages must be pending without vectors (got {} passages, {count}, {refused}).", ids.len())
        })?;
        let some = self.store.pending(&space(0), MODEL, 2).await.map_err(failed("`pending`"))?;
        ensure(some.passages.len() == 2, || "`pending` must return at most `most` passages.".to_owned())?;
        let first: Vec<_> = ids.first().copied().into_iter().collect();
        for (times, expected) in [(1, 7), (2, 7), (3, 6)] {
            self.store.refuse(&space(0), &first).await.map_err(failed("`refuse`"))?;
            let (pending, count, refused) = self.counts(0).await?;
            let is_last = !first.contains(pending.first().unwrap_or(&0));
            ensure((pending.len(), count, refused) == (expected, 6, 1) && is_last, || {
                format!("A passage that was refused {times} times must come last, and be left out after 3 times.")
            })?;
        }
        // Vectors of passages of another space are ignored.
        let of_other_space = ids.iter().map(|id| (*id, vector("lemon"))).collect();
        self.store.save_vectors(&space(1), MODEL, of_other_space).await.map_err(failed("`save_vectors`"))?;
        ensure(self.counts(0).await?.1 == 6, || "A vector of another space must be ignored.".to_owned())?;
        for at in 0..3 {
            let (ids, ..) = self.counts(at).await?;
            let filter = Filter::default();
            let passages = self.store.passages(&space(at), &[ids, first.clone()].concat(), &filter).await;
            let passages = passages.map_err(failed("`passages`"))?;
            let vectors = passages.iter().map(|passage| (passage.id, vector(&passage.text))).collect();
            self.store.save_vectors(&space(at), MODEL, vectors).await.map_err(failed("`save_vectors`"))?;
            let (ids, count, refused) = self.counts(at).await?;
            ensure((ids.len(), count, refused) == (0, 0, 0), || {
                "A passage with a vector must not be pending.".to_owned()
            })?;
        }
        Ok(())
    }

    async fn found(&self, at: usize, search: Search, retriever: &Retriever) -> Result<SearchResult, String> {
        let cx = context(&TestHost::new());
        cx.request().extend(SearchScope::new().space(space(at).name));
        let found = retriever.retrieve(search, &cx).await;
        found.map_err(|error| format!("A search by meaning failed: {}", error.message()))
    }

    /// Searches by meaning, by words and meaning, and by connections.
    async fn search(&mut self) -> Result<(), String> {
        for at in 0..3 {
            let retriever = Retriever::new(space(at).index, self.store.clone()).embedder(ContractEmbedder);
            let by_meaning = retriever.clone().meaning_weight(1.0).include_vectors(true);
            let graph = retriever.clone().graph(GraphOptions { threshold: 0.5, ..GraphOptions::default() });
            for (name, filter) in &filters() {
                for question in ["kettle", "lemon ice", "secret"] {
                    let search = || Search::new(question).top_k(MOST).within(filter.clone());
                    for (how, retriever) in
                        [("by meaning", &by_meaning), ("by words and meaning", &retriever), ("by connections", &graph)]
                    {
                        let call = format!("`{question}` {how} in space {at} with the filter `{name}`");
                        let found = self.found(at, search(), retriever).await?;
                        self.check(&call, at, filter, &found).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Checks that passages are in the space and match the filter.
    async fn check(&mut self, call: &str, at: usize, filter: &Filter, found: &SearchResult) -> Result<(), String> {
        let ids: Vec<_> = found.passages.iter().map(|found| found.passage.id).collect();
        let read = self.store.passages(&space(at), &ids, filter).await.map_err(failed("`passages`"))?;
        let is_visible = found.passages.iter().map(|found| &found.passage).eq(&read);
        ensure(is_visible, || format!("{call}: only passages of the space that match the filter must be found."))?;
        let similarities = found.passages.iter().filter_map(|found| found.similarity);
        ensure(similarities.clone().all(|cosine| (-1.0..=1.0).contains(&cosine)), || {
            format!("{call}: a similarity must be from -1 to 1.")
        })?;
        if call.contains("by meaning") {
            let has_all = found.passages.iter().all(|found| found.similarity.is_some() && found.vector.is_some());
            let all = self.store.passages(&space(at), &self.all_ids(at).await?, filter).await;
            let all = all.map_err(failed("`passages`"))?.len();
            let greatest = similarities.clone().fold(-1.0, f64::max);
            let is_first = similarities.clone().next().is_none_or(|first| first >= greatest);
            ensure(has_all && is_first && ids.len() == all, || {
                format!("{call}: all passages must be found by their vectors, the most similar first.")
            })?;
        }
        let answer = found.passages.iter().map(|found| {
            let (passage, graph) = (&found.passage, found.graph.unwrap_or_default());
            format!("{}#{} {} {graph}", passage.document, passage.ordinal, found.score)
        });
        let answer: Vec<_> = answer.chain(found.note.clone()).collect();
        self.answers.push(format!("{call}, {}: {}", found.mode.name(), answer.join(", ")));
        Ok(())
    }

    /// Returns the numbers of all passages of a space.
    async fn all_ids(&self, at: usize) -> Result<Vec<PassageId>, String> {
        let search = Search { space: space(at), ..Search::new("zephyr").top_k(MOST) };
        let found = self.store.search(search).await.map_err(failed("`search`"))?;
        Ok(found.passages.iter().map(|found| found.passage.id).collect())
    }

    /// Uses another model, and deletes the vectors.
    async fn other_model(&mut self) -> Result<(), String> {
        let ids = self.all_ids(0).await?;
        let vectors = || ids.iter().map(|id| (*id, vector("lemon"))).collect::<Vec<_>>();
        let pending = self.store.pending(&space(0), OTHER_MODEL, MOST).await.map(drop).map_err(|error| error.kind);
        let saved = self.store.save_vectors(&space(0), OTHER_MODEL, vectors()).await.map_err(|error| error.kind);
        for answer in [pending, saved] {
            ensure(answer == Err(StoreFailure::OtherModel), || {
                format!("Another model must be rejected as `StoreFailure::OtherModel` (got {answer:?}).")
            })?;
        }
        self.store.remove_vectors(&space(0).index).await.map_err(failed("`remove_vectors`"))?;
        for (at, expected) in [(0, 7), (1, 1), (2, 0)] {
            let (_, count, refused) = self.counts(at).await?;
            ensure((count, refused) == (expected, 0), || {
                format!(
                    "`remove_vectors` must delete the vectors of all spaces of the index, and no others (got {count} in space {at})."
                )
            })?;
        }
        let graph = Retriever::new(space(0).index, self.store.clone()).graph(GraphOptions::default());
        let found = self.found(0, Search::new("kettle"), &graph).await?;
        self.check("`kettle` by connections without vectors", 0, &Filter::default(), &found).await?;
        self.store.save_vectors(&space(0), OTHER_MODEL, vectors()).await.map_err(failed("`save_vectors`"))
    }
}
