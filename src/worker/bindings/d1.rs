//! D1 as a database.

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use worker::Env;
use worker::js_sys::futures::JsFuture;
use worker::js_sys::{Array, Promise, Uint8Array};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsCast, JsValue};

use super::{BindingKind, binding, message};
use crate::config::ConfigError;
use crate::limits::SQL_RESULT_BYTES;
use crate::storage::{Database, DatabaseError, DatabaseFailure, SqlEngine, SqlValue, Statement};

const D1_DATABASE: BindingKind = BindingKind {
    method: "prepare",
    section: "[[d1_databases]]",
    settings: "`binding`, `database_name` and `database_id`",
};

#[wasm_bindgen(module = "/src/worker/bindings/d1.js")]
extern "C" {
    // The worker crate reads rows with serde, value by value. A text with all rows crosses into the wasm module at once.
    fn query(database: &JsValue, sql: &str, values: &Array, most: usize) -> Promise;

    fn batch(database: &JsValue, statements: &Array, most: usize) -> Promise;
}

/// Returns the database of a D1 binding, such as `DB`.
///
/// ```no_run
/// use edge_mcp::{BuildError, Endpoint, McpServer, RequestInfo, worker};
///
/// fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
///     McpServer::builder("notes", "1.0.0").build()
/// }
///
/// fn endpoint(env: &::worker::Env) -> Result<Endpoint, edge_mcp::ConfigError> {
///     Ok(Endpoint::new(server).state(worker::database(env, "DB")?).configured(env))
/// }
/// ```
///
/// # Errors
/// wrangler.toml has no such binding of `[[d1_databases]]`.
pub fn database(env: &Env, name: &'static str) -> Result<Database, ConfigError> {
    let binding = binding(env, name, D1_DATABASE)?;
    Ok(Database::new(name, D1 { name, binding }))
}

struct D1 {
    name: &'static str,
    binding: JsValue,
}

impl D1 {
    /// Returns the error of an exception. An exception with a number is about a result with so many characters.
    fn failed(&self, error: &JsValue) -> DatabaseError {
        match error.as_f64() {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the length of a text")]
            Some(length) => DatabaseError::too_long(length as usize),
            None => DatabaseError::of_message(self.name, &message(error)),
        }
    }

    fn text(&self, result: JsValue) -> Result<String, DatabaseError> {
        let cause = || format!("the database `{}` returned no text", self.name);
        let text = result.dyn_into().ok().and_then(|bytes: Uint8Array| String::from_utf8(bytes.to_vec()).ok());
        text.ok_or_else(|| DatabaseError::new(DatabaseFailure::Unavailable, cause()))
    }
}

impl SqlEngine for D1 {
    fn query(&self, statement: Statement) -> LocalBoxFuture<'_, Result<String, DatabaseError>> {
        async move {
            let answer = query(&self.binding, statement.sql(), &values(&statement), SQL_RESULT_BYTES);
            self.text(JsFuture::from(answer).await.map_err(|error| self.failed(&error))?)
        }
        .boxed_local()
    }

    fn batch(&self, statements: Vec<Statement>) -> LocalBoxFuture<'_, Result<Vec<String>, DatabaseError>> {
        async move {
            let pair = |statement: &Statement| Array::of2(&statement.sql().into(), &values(statement));
            let answer = batch(&self.binding, &statements.iter().map(pair).collect(), SQL_RESULT_BYTES);
            let results = JsFuture::from(answer).await.map_err(|error| self.failed(&error))?;
            Array::from(&results).iter().map(|result| self.text(result)).collect()
        }
        .boxed_local()
    }
}

fn values(statement: &Statement) -> Array {
    let value = |value: &SqlValue| match value {
        SqlValue::Null => JsValue::NULL,
        #[allow(clippy::cast_precision_loss, reason = "a statement rejects numbers beyond 2^53 - 1")]
        SqlValue::Integer(integer) => JsValue::from_f64(*integer as f64),
        SqlValue::Real(real) => JsValue::from_f64(*real),
        SqlValue::Text(text) => text.as_str().into(),
        SqlValue::Blob(bytes) => Uint8Array::from(bytes.as_slice()).into(),
    };
    statement.values().iter().map(value).collect()
}
