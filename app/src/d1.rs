//! The store in D1.

use std::rc::Rc;

use async_trait::async_trait;
use edge_mcp::worker::D1Passages;
use worker::js_sys::Array;
use worker::wasm_bindgen::JsValue;
use worker::{D1PreparedStatement, D1Type};

use crate::document::{Document, NotASlug, Slug};
use crate::passages::{space, with_passages};
use crate::store::{Failure, Store, StoreError};

pub(crate) struct D1Store {
    passages: Rc<D1Passages>,
}

const READ: &str = "SELECT text FROM documents WHERE slug = ?1";

/// Saves one document. The statements for documents and passages form a batch, and D1 executes all statements of a batch, or none.
const SAVE: &str = "INSERT INTO documents (slug, title, text, set_name, hash) VALUES (?1, ?2, ?3, ?4, ?5) \
     ON CONFLICT (slug) DO UPDATE SET title = excluded.title, text = excluded.text, saved_at = excluded.saved_at, \
     set_name = excluded.set_name, hash = excluded.hash";

/// Deletes a document. Triggers delete its passages and links. `?2`: its set, or NULL for any.
const DELETE: &str = "DELETE FROM documents WHERE slug = ?1 AND (?2 IS NULL OR set_name = ?2) RETURNING slug";

const LIST_SET: &str =
    "SELECT slug, ifnull(hash, '') FROM documents WHERE set_name = ?1 AND slug > ?2 ORDER BY slug LIMIT ?3";

/// Lists documents whose slugs begin with `?1`. The index of slugs has them in this order.
const LIST: &str = "SELECT slug, title FROM documents \
     WHERE slug > ?2 AND slug >= ?1 AND slug < ?1 || char(1114111) ORDER BY slug LIMIT ?3";

impl D1Store {
    /// Creates a store in the database of the passages.
    pub(crate) fn new(passages: Rc<D1Passages>) -> Self {
        Self { passages }
    }

    fn prepare(&self, sql: &str, values: &[D1Type<'_>]) -> Result<D1PreparedStatement, StoreError> {
        self.passages.database().prepare(sql).bind_refs(values).map_err(failed)
    }

    /// Runs a query and returns its rows. Each row must have `N` columns, all of them texts.
    async fn rows<const N: usize>(&self, sql: &str, values: &[D1Type<'_>]) -> Result<Vec<[String; N]>, StoreError> {
        let found = self.prepare(sql, values)?.raw_js_value().await.map_err(failed)?;
        let text = |text: JsValue| text.as_string();
        let texts = |row: &JsValue| Array::from(row).iter().map_while(text).collect::<Vec<_>>();
        let malformed =
            |_| StoreError { failure: Failure::Unavailable, cause: format!("a row does not have {N} texts: {sql}") };
        found.iter().map(|row| texts(row).try_into().map_err(malformed)).collect()
    }
}

fn optional(text: Option<&str>) -> D1Type<'_> {
    text.map_or(D1Type::Null, D1Type::Text)
}

/// Parses a slug from the database.
fn slug(text: String) -> Result<Slug, StoreError> {
    let malformed = |error: NotASlug| StoreError { failure: Failure::Unavailable, cause: error.to_string() };
    text.try_into().map_err(malformed)
}

fn failed(error: worker::Error) -> StoreError {
    let cause = error.to_string();
    let is_missing = cause.contains("no such table");
    let failure = if is_missing { Failure::NotMigrated } else { Failure::Unavailable };
    StoreError { failure, cause }
}

#[async_trait(?Send)]
impl Store for D1Store {
    async fn read(&self, named: &Slug) -> Result<Option<String>, StoreError> {
        Ok(self.rows(READ, &[D1Type::Text(named.as_str())]).await?.pop().map(|[text]| text))
    }

    async fn save(&self, documents: &[Document]) -> Result<(), StoreError> {
        let mut statements = Vec::new();
        for Document { slug, title, text, set, hash } in documents {
            let [set, hash] = [set, hash].map(|value| optional(value.as_deref()));
            let values = [D1Type::Text(slug.as_str()), D1Type::Text(title), D1Type::Text(text), set, hash];
            statements.push(self.prepare(SAVE, &values)?);
        }
        let passages: Vec<_> = documents.iter().map(with_passages).collect();
        statements.extend(self.passages.prepare_save(&space(), &passages)?);
        self.passages.database().batch(statements).await.map(|_| ()).map_err(failed)
    }

    async fn delete(&self, named: &Slug, set: Option<&str>) -> Result<bool, StoreError> {
        Ok(!self.rows::<1>(DELETE, &[D1Type::Text(named.as_str()), optional(set)]).await?.is_empty())
    }

    async fn list_set(&self, set: &str, after: &str, limit: u32) -> Result<Vec<(Slug, Option<String>)>, StoreError> {
        let values = [D1Type::Text(set), D1Type::Text(after), D1Type::Real(f64::from(limit))];
        let listed = self.rows(LIST_SET, &values).await?.into_iter();
        listed.map(|[name, hash]| Ok((slug(name)?, Some(hash).filter(|hash| !hash.is_empty())))).collect()
    }

    async fn list(&self, prefix: &str, after: &str, limit: u32) -> Result<Vec<(Slug, String)>, StoreError> {
        let mut listed = Vec::new();
        let values = [D1Type::Text(prefix), D1Type::Text(after), D1Type::Real(f64::from(limit))];
        for [name, title] in self.rows(LIST, &values).await? {
            listed.push((slug(name)?, title));
        }
        Ok(listed)
    }
}
