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
/// much as a match in the text. `?1`: the expression of FTS5, `?2`: the most documents.
const SEARCH_EARLIER: &str = "\
SELECT CAST(d.id AS TEXT), d.slug, d.title, snippet(documents_index, 1, '', '', ' … ', 64) \
FROM documents_index JOIN documents AS d ON d.id = documents_index.rowid \
WHERE documents_index MATCH ?1 ORDER BY bm25(documents_index, 5.0, 1.0), d.slug LIMIT ?2";

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
        let filter = search.filter.clone();
        let earlier = self.find_earlier(search.query.expression(), search.most);
        let (mut matches, earlier) = try_join(self.stored.search(search), earlier).await?;
        matches.passages.extend(earlier.into_iter().filter(|passage| filter.matches(&passage.metadata)));
        Ok(matches)
    }

    async fn find_earlier(&self, expression: String, most: usize) -> Result<Vec<Passage>, StoreError> {
        if expression.is_empty() {
            return Ok(Vec::new());
        }
        let most = f64::from(u32::try_from(most).unwrap_or(u32::MAX));
        let found = rows(&self.database, SEARCH_EARLIER, &[D1Type::Text(&expression), D1Type::Real(most)]).await?;
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
    fn from(store::StoreError { outage, cause }: store::StoreError) -> Self {
        Self { kind: outage.into(), cause }
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
