//! Finds passages by their words and their meaning.

use std::collections::BTreeSet;

use futures::{FutureExt, join};

use super::scan::Scan;
use super::{SqliteVectors, statements};
use crate::limits::VECTOR_MATCHES;
use crate::rag::filter::Filter;
use crate::rag::fuse::{Similarities, by_meaning};
use crate::rag::passage::{Edge, Passage, PassageId, Space};
use crate::rag::rank::ByWords;
use crate::rag::search::{Meaning, Search};
use crate::rag::search_result::SearchResult;
use crate::rag::sqlite::rows::{array, read, unavailable};
use crate::rag::sqlite::statements::edges;
use crate::rag::store::{SearchStore, StoreFuture};
use crate::rag::store_error::StoreError;
use crate::rag::vector_index::{VectorIndex, VectorQuery};
use crate::rag::vectors::int8::Int8;

impl SearchStore for SqliteVectors {
    fn search(&self, search: Search) -> StoreFuture<'_, SearchResult> {
        self.find(search).boxed_local()
    }

    fn passages<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        filter: &'a Filter,
    ) -> StoreFuture<'a, Vec<Passage>> {
        SearchStore::passages(&self.passages, space, ids, filter)
    }

    fn neighbours<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        distance: usize,
        filter: &'a Filter,
    ) -> StoreFuture<'a, Vec<Passage>> {
        self.passages.neighbours(space, ids, distance, filter)
    }

    fn edges<'a>(
        &'a self,
        space: &'a Space,
        seeds: &'a [PassageId],
        threshold: f64,
        filter: &'a Filter,
    ) -> StoreFuture<'a, Vec<Edge>> {
        let statement = edges(true);
        async move { self.passages.find_edges(&statement, space, seeds, threshold, filter).await }.boxed_local()
    }
}

impl SqliteVectors {
    async fn find(&self, search: Search) -> Result<SearchResult, StoreError> {
        let Some(meaning) = &search.meaning else { return self.passages.search(search).await };
        let by_words = async {
            // Without the words, the result has only passages that are found by their meaning.
            if meaning.is_required() { Ok(ByWords::default()) } else { self.passages.candidates(&search).await }
        };
        // The model calculates the vector of the question meanwhile.
        let (by_words, scan, _) = join!(by_words, self.scan(&search, meaning), meaning.vector());
        let by_words = by_words?;
        let similar = match scan {
            Ok(scan) => self.similar(&search, meaning, &scan, &by_words).await,
            Err(error) => Err(error),
        };
        by_meaning(self, by_words, similar, &search, meaning).await
    }

    /// Returns the similarities of the nearest passages, and of those that were found by their words.
    async fn similar(
        &self,
        search: &Search,
        meaning: &Meaning,
        scan: &Scan,
        by_words: &ByWords,
    ) -> Result<Similarities, StoreError> {
        let (Some(vector), Some(model)) = (meaning.vector().await, &scan.model) else {
            return Ok(Similarities::default());
        };
        model.check(&meaning.model, vector.len())?;
        let mut ids = match &self.index {
            Some(index) => near_by_index(&**index, &search.space, &vector, VECTOR_MATCHES).await?,
            None => scan.near(&vector, meaning.candidates)?,
        };
        ids.extend(by_words.passages.iter().map(|passage| passage.id));
        let ids = ids.into_iter().collect();
        Ok(Similarities::new(&vector, self.vectors(search, &meaning.model, &ids).await?))
    }

    /// Returns the vectors of a model for passages that the search can find. Deletes the vectors of passages that no longer exist from the
    /// service.
    pub(super) async fn vectors(
        &self,
        search: &Search,
        model: &str,
        ids: &BTreeSet<PassageId>,
    ) -> Result<Vec<(PassageId, Int8)>, StoreError> {
        let Search { space, filter, containing, .. } = search;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let sql = statements::VECTORS
            .replace("{containing}", if containing.is_some() { statements::TEXT_CONTAINING } else { "" });
        let mut values = vec![array(ids), model.to_owned()];
        values.extend(containing.clone());
        let vectors = self.passages.filtered(&sql, space, filter, values)?;
        let Some(index) = &self.index else { return read_vectors(vectors.all().await?) };
        let results =
            self.passages.database.batch([vectors, self.passages.plain(statements::STALE, vec![array(ids)])]).await?;
        let [vectors, stale] = results.as_slice() else { return Err(unavailable("a batch has too few results")) };
        let stale: Vec<PassageId> = stale.all()?;
        if !stale.is_empty() {
            // The next search that finds them deletes them, if this fails.
            drop(index.delete(&stale).await);
        }
        read_vectors(vectors.all()?)
    }
}

/// Returns the passages that are nearest to a vector by the service. Some of them may no longer exist.
pub(super) async fn near_by_index(
    index: &dyn VectorIndex,
    space: &Space,
    vector: &[f32],
    most: usize,
) -> Result<Vec<PassageId>, StoreError> {
    let query = VectorQuery { vector: vector.to_vec(), namespace: space.namespace(), most };
    Ok(index.query(query).await?)
}

/// Reads rows that are `[id, vector]`.
pub(super) fn read_vectors(rows: Vec<String>) -> Result<Vec<(PassageId, Int8)>, StoreError> {
    let vector = |(id, text): (PassageId, String)| Some((id, Int8::parse(&text)?));
    let vectors = read(rows)?.into_iter().map(vector);
    vectors.collect::<Option<_>>().ok_or_else(|| unavailable("a vector is malformed"))
}
