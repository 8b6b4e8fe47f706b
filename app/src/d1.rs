//! The store in D1. Triggers keep its full-text index (SQLite's FTS5) up to date.

use async_trait::async_trait;
use worker::js_sys::Array;
use worker::wasm_bindgen::JsValue;
use worker::{D1Database, D1Type};

use crate::document::{Document, NotASlug, Slug};
use crate::store::{Hit, Outage, Store, StoreError};

pub(crate) struct D1Store(D1Database);

/// A match in the title counts five times as much as a match in the text. Results with equal ranks are sorted by slug.
const SEARCH: &str = "SELECT d.slug AS slug, d.title AS title, snippet(documents_index, 1, '', '', ' … ', 32) AS snippet \
     FROM documents_index JOIN documents d ON d.id = documents_index.rowid \
     WHERE documents_index MATCH ?1 ORDER BY bm25(documents_index, 5.0, 1.0), d.slug LIMIT ?2";

const READ: &str = "SELECT slug, title, text FROM documents WHERE slug = ?1";

/// Saves one document. The triggers update the index within this statement. For several documents, the statements form a batch,
/// and D1 executes all statements of a batch, or none.
const SAVE: &str = "INSERT INTO documents (slug, title, text) VALUES (?1, ?2, ?3) \
     ON CONFLICT (slug) DO UPDATE SET title = excluded.title, text = excluded.text, saved_at = excluded.saved_at";

const LIST: &str = "SELECT slug, title FROM documents ORDER BY slug";

impl D1Store {
    pub(crate) fn new(database: D1Database) -> Self {
        Self(database)
    }

    /// Runs a query and returns its rows. Each row must have `N` columns, all of them texts.
    async fn rows<const N: usize>(&self, sql: &str, values: &[D1Type<'_>]) -> Result<Vec<[String; N]>, StoreError> {
        let mut rows = Vec::new();
        for texts in self.texts(sql, values).await? {
            let malformed =
                |_| StoreError { outage: Outage::Unavailable, cause: format!("a row does not have {N} texts: {sql}") };
            rows.push(texts.try_into().map_err(malformed)?);
        }
        Ok(rows)
    }

    /// Runs a query and returns the texts of each row, up to the first column that is not a text.
    async fn texts(&self, sql: &str, values: &[D1Type<'_>]) -> Result<Vec<Vec<String>>, StoreError> {
        let rows = self.0.prepare(sql).bind_refs(values).map_err(failed)?.raw_js_value().await.map_err(failed)?;
        let text = |text: JsValue| text.as_string();
        Ok(rows.iter().map(|row| Array::from(row).iter().map_while(text).collect()).collect())
    }
}

/// Parses a slug from the database.
fn slug(text: String) -> Result<Slug, StoreError> {
    let malformed = |error: NotASlug| StoreError { outage: Outage::Unavailable, cause: error.to_string() };
    text.try_into().map_err(malformed)
}

fn failed(error: worker::Error) -> StoreError {
    let cause = error.to_string();
    let outage = if cause.contains("no such table") { Outage::NotMigrated } else { Outage::Unavailable };
    StoreError { outage, cause }
}

/// Returns an FTS5 expression that matches documents with any word of `query`. It quotes each word as an FTS5 string and joins the
/// strings with `OR`. Punctuation, including quotes, only separates words, so `query` cannot contain operators. The ranking puts
/// documents that contain more of the words first.
fn match_any(query: &str) -> String {
    let separates = |c: char| c.is_whitespace() || c.is_control() || c.is_ascii_punctuation();
    let mut expression = String::new();
    for word in query.split(separates).filter(|word| !word.is_empty()) {
        if !expression.is_empty() {
            expression.push_str(" OR ");
        }
        expression.extend(["\"", word, "\""]);
    }
    expression
}

#[async_trait(?Send)]
impl Store for D1Store {
    async fn search(&self, query: &str, limit: u32) -> Result<Vec<Hit>, StoreError> {
        let expression = match_any(query);
        if expression.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self.rows(SEARCH, &[D1Type::Text(&expression), D1Type::Real(f64::from(limit))]).await?;
        Ok(rows.into_iter().map(|[slug, title, snippet]| Hit { slug, title, snippet }).collect())
    }

    async fn read(&self, named: &Slug) -> Result<Option<Document>, StoreError> {
        let found = self.rows(READ, &[D1Type::Text(named.as_str())]).await?.pop();
        found.map(|[name, title, text]| Ok(Document { slug: slug(name)?, title, text })).transpose()
    }

    async fn save(&self, documents: &[Document]) -> Result<(), StoreError> {
        let mut statements = Vec::new();
        for Document { slug, title, text } in documents {
            let values = [D1Type::Text(slug.as_str()), D1Type::Text(title), D1Type::Text(text)];
            statements.push(self.0.prepare(SAVE).bind_refs(&values).map_err(failed)?);
        }
        self.0.batch(statements).await.map(|_| ()).map_err(failed)
    }

    async fn list(&self) -> Result<Vec<(Slug, String)>, StoreError> {
        let mut listed = Vec::new();
        for [name, title] in self.rows(LIST, &[]).await? {
            listed.push((slug(name)?, title));
        }
        Ok(listed)
    }
}
