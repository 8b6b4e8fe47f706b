//! The store of passages in D1.

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use worker::js_sys::futures::JsFuture;
use worker::js_sys::{Array, Promise};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsValue};
use worker::{D1Database, D1PreparedStatement};

use crate::rag::{Database, Document, Space, SqlitePassages, Statement, StoreError, StoreFailure};

/// A store of passages in D1.
///
/// The store does not create its tables. [`migration`](crate::rag::migration) returns their SQL.
///
/// ```no_run
/// use edge_mcp::worker::D1Passages;
///
/// fn passages(env: &worker::Env) -> worker::Result<D1Passages> {
///     Ok(D1Passages::new(env.d1("DB")?))
/// }
/// ```
pub type D1Passages = SqlitePassages<D1Database>;

impl D1Passages {
    /// Prepares the statements of [`save_statements`](SqlitePassages::save_statements). A program can put them into one batch with its own
    /// statements. D1 runs all statements of a batch, or none.
    ///
    /// # Errors
    /// A document is [not valid](Document::check), or D1 rejects a value.
    pub fn prepare_save(&self, space: &Space, documents: &[Document]) -> Result<Vec<D1PreparedStatement>, StoreError> {
        prepare(self.database(), &self.save_statements(space, documents)?)
    }

    /// Prepares the statements of [`remove_statements`](SqlitePassages::remove_statements).
    ///
    /// # Errors
    /// D1 rejects a value.
    pub fn prepare_remove(&self, space: &Space, document: &str) -> Result<Vec<D1PreparedStatement>, StoreError> {
        prepare(self.database(), &self.remove_statements(space, document))
    }
}

#[wasm_bindgen(module = "/src/worker/rag/d1.js")]
extern "C" {
    // `D1Result` of the worker crate reads rows with serde, which needs much code. A row has one column, a text.
    #[wasm_bindgen(js_name = batch)]
    fn run(database: &JsValue, statements: &Array) -> Promise;
}

impl Database for D1Database {
    fn batch(&self, statements: Vec<Statement>) -> LocalBoxFuture<'_, Result<Vec<Vec<String>>, StoreError>> {
        async move {
            let prepared = prepare(self, &statements)?;
            let prepared: Array = prepared.iter().map(D1PreparedStatement::inner).collect();
            let answers = JsFuture::from(run(self.as_ref(), &prepared)).await.map_err(|error| failed(error.into()))?;
            Array::from(&answers).iter().map(|rows| texts(&rows)).collect()
        }
        .boxed_local()
    }
}

fn prepare(database: &D1Database, statements: &[Statement]) -> Result<Vec<D1PreparedStatement>, StoreError> {
    let prepare = |Statement { sql, values }: &Statement| {
        let values: Vec<JsValue> = values.iter().map(|value| value.as_str().into()).collect();
        database.prepare(sql.as_str()).bind(&values).map_err(failed)
    };
    statements.iter().map(prepare).collect()
}

/// Reads the items of an array of strings.
fn texts(rows: &JsValue) -> Result<Vec<String>, StoreError> {
    let malformed = || StoreError { kind: StoreFailure::Unavailable, cause: "a row of D1 is not a text".into() };
    Array::from(rows).iter().map(|item| item.as_string().ok_or_else(malformed)).collect()
}

fn failed(error: worker::Error) -> StoreError {
    let cause = error.to_string();
    let kind = if cause.contains("no such table") { StoreFailure::NotMigrated } else { StoreFailure::Unavailable };
    StoreError { kind, cause }
}
