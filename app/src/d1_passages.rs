//! The store of passages in D1, which also finds the documents of earlier versions.

use edge_mcp::rag::{
    Document, Edge, Filter, Matches, Passage, PassageId, PassageStore, Saved, Search, Space, StoreError,
};
use edge_mcp::worker::D1Passages;
use futures::FutureExt;
use futures::future::{LocalBoxFuture, try_join};
use worker::{D1Database, D1Type};

use crate::d1::rows;
use crate::passages::metadata;
use crate::store;

/// Finds documents of earlier versions, which have no passages until `run_reindex` stores them. A match in the title counts five times as
/// much as a match in the text. `?1`: the expression of FTS5, `?2`: the most documents, `?3`: the values of the filter.
const SEARCH_EARLIER: &str = "\
SELECT CAST(d.id AS TEXT), d.slug, d.title, snippet(documents_index, 1, '', '', ' … ', 64) \
FROM documents_index JOIN documents AS d ON d.id = documents_index.rowid \
WHERE documents_index MATCH ?1 AND ?3 IS NOT NULL AND {filter} ORDER BY bm25(documents_index, 5.0, 1.0), d.slug LIMIT ?2";

/// The metadata of a document of an earlier version.
const METADATA: &str = "json_object('slug', d.slug, 'title', d.title)";

/// The passages of the knowledge base.
///
/// For a document of an earlier version, a search returns one passage: the part of the document that matches best. Its number is negative,
/// so it is not the number of a stored passage, and has no connections.
pub(crate) struct Passages {
    stored: D1Passages,
    database: D1Database,
}

impl Passages {
    pub(crate) fn new(stored: D1Passages, database: D1Database) -> Self {
        Self { stored, database }
    }

    async fn find(&self, search: Search) -> Result<Matches, StoreError> {
        let earlier = self.find_earlier(search.query.expression(), search.filter.clone(), search.most);
        let (mut matches, earlier) = try_join(self.stored.search(search), earlier).await?;
        matches.passages.extend(earlier);
        Ok(matches)
    }

    async fn find_earlier(&self, expression: String, filter: Filter, most: usize) -> Result<Vec<Passage>, StoreError> {
        if expression.is_empty() {
            return Ok(Vec::new());
        }
        let most = f64::from(u32::try_from(most).unwrap_or(u32::MAX));
        let condition = filter.to_sql(METADATA, 3)?;
        let sql = SEARCH_EARLIER.replace("{filter}", &format!("({})", condition.text));
        let values = [D1Type::Text(&expression), D1Type::Real(most), D1Type::Text(&condition.values)];
        let found = rows(&self.database, &sql, &values).await?;
        let passage = |[id, slug, title, text]: [String; 4]| Passage {
            id: id.parse::<PassageId>().unwrap_or_default().saturating_neg(),
            ordinal: 0,
            metadata: metadata(&slug, &title),
            document: slug,
            heading: title,
            text,
        };
        Ok(found.into_iter().map(passage).collect())
    }
}

impl From<store::StoreError> for StoreError {
    fn from(store::StoreError { failure, cause }: store::StoreError) -> Self {
        Self { kind: failure.into(), cause }
    }
}

impl PassageStore for Passages {
    fn search(&self, search: Search) -> LocalBoxFuture<'_, Result<Matches, StoreError>> {
        self.find(search).boxed_local()
    }

    fn passages<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Passage>, StoreError>> {
        self.stored.passages(space, ids, filter)
    }

    fn edges<'a>(
        &'a self,
        space: &'a Space,
        seeds: &'a [PassageId],
        threshold: f64,
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Edge>, StoreError>> {
        self.stored.edges(space, seeds, threshold, filter)
    }

    fn save<'a>(&'a self, space: &'a Space, document: &'a Document) -> LocalBoxFuture<'a, Result<Saved, StoreError>> {
        self.stored.save(space, document)
    }

    fn remove<'a>(&'a self, space: &'a Space, document: &'a str) -> LocalBoxFuture<'a, Result<bool, StoreError>> {
        self.stored.remove(space, document)
    }
}
