//! Databases with SQL, and stores of keys and values: one type for each, on every machine.
//!
//! A [`Database`] is D1 in a Worker. In tests it is SQLite in memory, which has run the migrations of the server
//! (`edge_mcp::testing::TestDatabase`). A [`KvStore`] is Workers KV in a Worker, and a map in tests (`edge_mcp::testing::TestKv`). Handlers
//! do not know the difference. `docs/testing.md` lists what is equal on both machines.
//!
//! Add the value to the state of the endpoint, and a handler gets it by its type:
//!
//! ```
//! use edge_mcp::storage::Database;
//! use edge_mcp::{Context, HandlerError, Json};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Note {
//!     title: String,
//!     text: String,
//! }
//!
//! async fn read_note(note: Note, cx: Context) -> Result<Json<Note>, HandlerError> {
//!     let notes = cx.state::<Database>()?.query("SELECT title, text FROM notes WHERE title = ?1").bind(&note.title);
//!     notes.first().await?.map(Json).ok_or_else(|| HandlerError::not_found("No note has this title. Call list-notes."))
//! }
//! ```

mod database;
mod error;
mod kv;
mod rows;
mod single_statement;
mod value;

pub use database::{Database, SqlEngine, Statement};
pub use error::{DatabaseError, DatabaseFailure};
pub use kv::{KvEngine, KvError, KvKey, KvKeys, KvStore, ListKeys};
pub use rows::Rows;
pub use value::SqlValue;
