//! The tables of the vectors, and the service that finds the nearest vectors, if there is one.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::statements;
use crate::rag::passage::{PassageId, Space};
use crate::rag::search::Search;
use crate::rag::sqlite::SqlitePassages;
use crate::rag::sqlite::rows::{array, read, unavailable};
use crate::rag::store_error::{StoreError, StoreFailure};
use crate::rag::vector_index::{VectorIndex, VectorIndexError, VectorQuery};
use crate::rag::vectors::int8::Int8;

#[derive(Clone)]
pub(super) struct Tables {
    pub(super) passages: SqlitePassages,
    /// The service that finds the nearest vectors. Without one, a search reads the codes.
    pub(super) index: Option<Rc<dyn VectorIndex>>,
    /// The most passages of a space in which a search reads the codes.
    pub(super) most_scanned: usize,
}

impl Tables {
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
    index.query(query).await.map_err(of_index)
}

/// Reads rows that are `[id, vector]`.
pub(super) fn read_vectors(rows: Vec<String>) -> Result<Vec<(PassageId, Int8)>, StoreError> {
    let vector = |(id, text): (PassageId, String)| Some((id, Int8::parse(&text)?));
    let vectors = read(rows)?.into_iter().map(vector);
    vectors.collect::<Option<_>>().ok_or_else(|| unavailable("a vector is malformed"))
}

pub(super) fn of_index(VectorIndexError(cause): VectorIndexError) -> StoreError {
    StoreError { kind: StoreFailure::Unavailable, cause }
}
