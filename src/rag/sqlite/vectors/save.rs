//! Writes vectors, with their codes and the connections of similar passages.

use std::collections::{BTreeMap, BTreeSet};

use futures::FutureExt;

use super::find::{near_by_index, read_vectors};
use super::scan::{ModelRow, Scan};
use super::{SqliteVectors, statements};
use crate::limits::{
    RAG_CENTRE_VECTORS, RAG_EMBEDDING_BATCH, RAG_NEIGHBOUR_CANDIDATES, RAG_NEIGHBOURS_KEPT, RAG_REFUSALS,
};
use crate::rag::connections::{NewVector, connections};
use crate::rag::document::Document;
use crate::rag::passage::{PassageId, Space};
use crate::rag::search::Search;
use crate::rag::sqlite::rows::{array, passages, serialized, unavailable};
use crate::rag::store::{SaveCounts, SaveStore, StoreFuture};
use crate::rag::store_error::{StoreError, StoreFailure};
use crate::rag::vector_index::IndexedVector;
use crate::rag::vector_store::{PassageVectors, PendingPassages, VectorStore, dimensions};
use crate::rag::vectors::code::{centre_text, code, mean};
use crate::storage::Statement;

/// The numbers of saved vectors after which the centre is calculated. Until the first, it is zero.
const CENTRED_AT: [usize; 2] = [64, 1024];

/// The most attempts to save vectors while others change the centre.
const ATTEMPTS: u8 = 3;

impl SaveStore for SqliteVectors {
    fn save<'a>(&'a self, space: &'a Space, document: &'a Document) -> StoreFuture<'a, SaveCounts> {
        self.passages.save(space, document)
    }

    fn remove<'a>(&'a self, space: &'a Space, document: &'a str) -> StoreFuture<'a, bool> {
        self.passages.remove(space, document)
    }
}

impl VectorStore for SqliteVectors {
    fn pending<'a>(&'a self, space: &'a Space, model: &'a str, most: usize) -> StoreFuture<'a, PendingPassages> {
        async move {
            let count = self.passages.statement(statements::COUNT_PENDING, space, Vec::new());
            let pending =
                self.passages.statement(statements::PENDING, space, vec![most.to_string(), RAG_REFUSALS.to_string()]);
            let recorded = self.passages.statement(statements::MODEL, space, Vec::new());
            let results = self.passages.database.batch([recorded, count, pending]).await?;
            let [recorded, count, pending] = results.as_slice() else {
                return Err(unavailable("a batch has too few results"));
            };
            if let Some(recorded) = recorded.first::<ModelRow>()? {
                recorded.check(model, recorded.dimensions)?;
            }
            let (count, refused) = count.first()?.unwrap_or_default();
            Ok(PendingPassages { passages: passages(pending.all()?)?, count, refused })
        }
        .boxed_local()
    }

    fn save_vectors<'a>(&'a self, space: &'a Space, model: &'a str, vectors: PassageVectors) -> StoreFuture<'a, ()> {
        // The vectors are saved in batches, because a batch reads many vectors to find similar passages.
        async move {
            let dimensions = dimensions(&vectors)?;
            let of_space =
                self.passages.statement(statements::OF_SPACE, space, vec![array(vectors.iter().map(|(id, _)| *id))]);
            let of_space: BTreeSet<PassageId> = of_space.all().await?.into_iter().collect();
            let vectors = vectors.into_iter().filter(|(id, _)| of_space.contains(id));
            let new: Vec<_> = vectors.map(|(id, vector)| NewVector::new(id, vector)).collect();
            for batch in new.chunks(RAG_EMBEDDING_BATCH) {
                self.save_batch(space, model, dimensions, batch).await?;
            }
            Ok(())
        }
        .boxed_local()
    }

    fn refuse<'a>(&'a self, space: &'a Space, ids: &'a [PassageId]) -> StoreFuture<'a, ()> {
        let refuse = self.passages.statement(statements::REFUSE, space, vec![array(ids)]);
        async move { Ok(refuse.run().await.map(drop)?) }.boxed_local()
    }

    fn remove_vectors<'a>(&'a self, index: &'a str) -> StoreFuture<'a, ()> {
        let delete = |sql: &str| self.passages.plain(sql, vec![index.to_owned()]);
        let deleted = self.passages.database.batch(statements::DELETE_ALL.map(delete));
        async move { Ok(deleted.await.map(drop)?) }.boxed_local()
    }
}

impl SqliteVectors {
    async fn save_batch(
        &self,
        space: &Space,
        model: &str,
        dimensions: usize,
        new: &[NewVector],
    ) -> Result<(), StoreError> {
        for _ in 0..ATTEMPTS {
            let batch = self.statements_of(space, model, dimensions, new).await?;
            if let Some(index) = &self.index {
                // The service has a vector before the database says so. A vector of a passage that does not exist has no effect.
                let vector = |new: &NewVector| IndexedVector { id: new.id, vector: new.vector.clone() };
                index.upsert(&space.namespace(), new.iter().map(vector).collect()).await?;
            }
            match self.passages.database.batch(batch).await.map_err(StoreError::from) {
                // Another call has changed the model or its centre in the meantime.
                Err(StoreError { kind: StoreFailure::Constraint, .. }) => {}
                saved => return saved.map(drop),
            }
        }
        Err(unavailable("other calls changed the model or its centre during each attempt to save vectors"))
    }

    /// Returns the statements that save vectors, or none of them.
    async fn statements_of(
        &self,
        space: &Space,
        model: &str,
        dimensions: usize,
        new: &[NewVector],
    ) -> Result<Vec<Statement>, StoreError> {
        let index = || space.index.to_string();
        let search = Search { space: space.clone(), ..Search::new("") };
        let scan = self.read_codes(&search).await?;
        let (saved, generation) = match &scan.model {
            Some(recorded) => {
                recorded.check(model, dimensions)?;
                (recorded.saved, recorded.generation)
            }
            None => (0, 0),
        };
        let is_centred = is_centred(generation, saved.saturating_add(new.len()));
        let mut batch = Vec::new();
        if scan.model.is_none() {
            batch.push(
                self.passages.plain(statements::INSERT_MODEL, vec![index(), model.to_owned(), dimensions.to_string()]),
            );
        }
        let expected = vec![index(), model.to_owned(), dimensions.to_string(), generation.to_string()];
        batch.push(self.passages.plain(statements::EXPECT_MODEL, expected));
        if self.index.is_none() && !is_centred {
            batch.push(self.passages.plain(statements::EXPECT_SAVED, vec![index(), saved.to_string()]));
        }
        batch.push(self.passages.plain(statements::COUNT_SAVED, vec![index(), new.len().to_string()]));
        let vectors: Vec<_> = new.iter().map(|new| (new.id, new.int8.text())).collect();
        batch.push(self.passages.statement(statements::SAVE_VECTORS, space, vec![serialized(&vectors)?]));
        if self.index.is_none() {
            let codes: Vec<_> = if is_centred {
                new.iter().map(|new| (new.id, code(&new.vector, &scan.centre))).collect()
            } else {
                // All codes change with the centre. So the batch fails if another call has saved vectors that are not in `all`.
                let mut all = self.all_vectors(space).await?;
                all.extend(new.iter().map(|new| (new.id, new.vector.clone())));
                let centre = mean(all.values(), dimensions);
                batch.push(self.passages.plain(statements::SET_CENTRE, vec![index(), centre_text(&centre)]));
                all.iter().map(|(id, vector)| (*id, code(vector, &centre))).collect()
            };
            batch.push(self.passages.plain(statements::SAVE_CODES, vec![index(), serialized(&codes)?]));
        }
        let edges = self.neighbours(&search, model, &scan, new).await?;
        let changed: BTreeSet<_> = edges.keys().map(|(source, _)| *source).collect();
        let edges: Vec<_> = edges.into_iter().map(|((source, target), weight)| (source, target, weight)).collect();
        batch.push(self.passages.statement(statements::SAVE_NEIGHBOURS, space, vec![serialized(&edges)?]));
        batch.push(
            self.passages.plain(statements::LIMIT_NEIGHBOURS, vec![array(changed), RAG_NEIGHBOURS_KEPT.to_string()]),
        );
        Ok(batch)
    }

    /// Returns the vectors of an index that has few.
    async fn all_vectors(&self, space: &Space) -> Result<BTreeMap<PassageId, Vec<f32>>, StoreError> {
        let values = vec![space.index.to_string(), RAG_CENTRE_VECTORS.to_string()];
        let vectors = read_vectors(self.passages.plain(statements::ALL_VECTORS, values).all().await?)?;
        Ok(vectors.into_iter().map(|(id, vector)| (id, vector.to_floats())).collect())
    }

    /// Returns the connections of new passages with the most similar ones, in both directions.
    async fn neighbours(
        &self,
        search: &Search,
        model: &str,
        scan: &Scan,
        new: &[NewVector],
    ) -> Result<BTreeMap<(PassageId, PassageId), f64>, StoreError> {
        let mut near = BTreeSet::new();
        for NewVector { vector, .. } in new {
            near.extend(match &self.index {
                Some(index) => near_by_index(&**index, &search.space, vector, RAG_NEIGHBOUR_CANDIDATES).await?,
                None => scan.near(vector, Some(RAG_NEIGHBOUR_CANDIDATES))?,
            });
        }
        near.retain(|id| new.iter().all(|new| new.id != *id));
        Ok(connections(new, &self.vectors(search, model, &near).await?))
    }
}

/// Returns whether the centre of an index is up to date. `generation` is how often it was calculated, and `saved` the number of vectors that were
/// saved.
fn is_centred(generation: usize, saved: usize) -> bool {
    generation >= CENTRED_AT.iter().filter(|number| saved >= **number).count()
}
