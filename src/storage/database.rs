//! A database with SQL, and its statements.

use std::borrow::Cow;
use std::fmt;
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use serde::de::DeserializeOwned;

use super::error::{DatabaseError, DatabaseFailure};
use super::rows::Rows;
use super::single_statement;
use super::value::{MOST_INTEGER, SqlValue};
use crate::limits::{SQL_BATCH, SQL_BYTES, SQL_PARAMETERS, SQL_VALUE_BYTES};

/// A database with SQL: D1 in a Worker, and SQLite in memory in tests. A clone is another handle of the same database.
///
/// `edge_mcp::worker::database(env, "DB")` returns the database of a binding. `edge_mcp::testing::TestDatabase` has one for tests. A second
/// database of a server is a field of a state type of its own.
///
/// ```
/// use edge_mcp::storage::{Database, DatabaseError};
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct Note {
///     id: i64,
///     title: String,
///     is_done: bool,
/// }
///
/// async fn open_notes(notes: &Database) -> Result<Vec<Note>, DatabaseError> {
///     notes.query("SELECT id, title, is_done FROM notes WHERE is_done = ?1").bind(false).all().await
/// }
///
/// async fn count(notes: &Database) -> Result<u64, DatabaseError> {
///     Ok(notes.query("SELECT count(*) FROM notes").first().await?.unwrap_or(0))
/// }
///
/// async fn archive(notes: &Database, id: i64) -> Result<(), DatabaseError> {
///     let copy = notes.query("INSERT INTO archive SELECT * FROM notes WHERE id = ?1").bind(id);
///     let delete = notes.query("DELETE FROM notes WHERE id = ?1").bind(id);
///     notes.batch([copy, delete]).await.map(drop)
/// }
/// ```
#[derive(Clone)]
pub struct Database {
    name: Rc<str>,
    engine: Rc<dyn SqlEngine>,
}

/// The machine that runs the statements of a [`Database`].
///
/// The result of a statement is a JSON array, which [`Rows`] reads: `[changes, columns, row, …]`. `changes` is the number of rows that the
/// statement changed. `columns` are the names of the columns, and a row has their values. A BLOB is an array of its bytes.
pub trait SqlEngine {
    /// Runs one statement that reads, and returns its result. The number of changes may be 0.
    fn query(&self, statement: Statement) -> LocalBoxFuture<'_, Result<String, DatabaseError>>;

    /// Runs the statements in one transaction: all of them, or none. Returns the result of each statement.
    fn batch(&self, statements: Vec<Statement>) -> LocalBoxFuture<'_, Result<Vec<String>, DatabaseError>>;
}

impl Database {
    /// Creates a database. Messages name it by its binding, such as `DB`.
    pub fn new(name: &str, engine: impl SqlEngine + 'static) -> Self {
        Self { name: name.into(), engine: Rc::new(engine) }
    }

    /// Returns the name of the binding.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Creates a statement. Its parameters are `?1`, `?2` and so on.
    pub fn query(&self, sql: impl Into<Cow<'static, str>>) -> Statement {
        Statement { database: self.clone(), sql: sql.into(), values: Vec::new() }
    }

    /// Runs statements of this database in one transaction: all of them, or none. Returns the rows of each statement.
    ///
    /// # Errors
    /// A statement failed. Then the batch changed nothing.
    pub async fn batch(&self, statements: impl IntoIterator<Item = Statement>) -> Result<Vec<Rows>, DatabaseError> {
        let statements: Vec<_> = statements.into_iter().collect();
        statements.iter().try_for_each(Statement::check)?;
        let count = statements.len();
        if count > SQL_BATCH {
            return Err(invalid(format!("a batch has {count} statements, and must have at most {SQL_BATCH}")));
        }
        if !statements.iter().all(|statement| Rc::ptr_eq(&statement.database.engine, &self.engine)) {
            return Err(invalid(format!(
                "a statement of a batch of the database `{}` belongs to another one",
                self.name
            )));
        }
        if count == 0 {
            return Ok(Vec::new());
        }
        let results = self.engine.batch(statements).await?;
        if results.len() != count {
            let cause =
                format!("the database `{}` returned {} results of {count} statements", self.name, results.len());
            return Err(DatabaseError::new(DatabaseFailure::Unavailable, cause));
        }
        Ok(results.into_iter().map(Rows::new).collect())
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Database").field(&self.name).finish()
    }
}

/// A statement of SQL with the values of its parameters. [`Database::query`] creates it.
#[derive(Clone, Debug)]
#[must_use = "a statement does nothing until one of its methods `all`, `first` and `run`, or a batch, runs it"]
pub struct Statement {
    database: Database,
    sql: Cow<'static, str>,
    values: Vec<SqlValue>,
}

impl Statement {
    /// Sets the value of the next parameter: the first call sets `?1`.
    pub fn bind(mut self, value: impl Into<SqlValue>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Returns the text.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// Returns the values of the parameters.
    pub fn values(&self) -> &[SqlValue] {
        &self.values
    }

    /// Runs the statement, and reads its rows.
    ///
    /// A row is read by the names of its columns into a struct, or by their order into a tuple. A row with one column is also read into
    /// the type of its value. A `bool` is 0 or 1, and a `Vec<u8>` in a struct or a tuple is a BLOB.
    ///
    /// # Errors
    /// The statement failed, a row is not a `T`, or a number is beyond 2^53 − 1.
    pub async fn all<T: DeserializeOwned>(self) -> Result<Vec<T>, DatabaseError> {
        self.rows().await?.all()
    }

    /// Runs the statement, and reads its first row, or returns `None` if it has no rows. [`all`](Self::all) describes the types of rows.
    ///
    /// The database returns all rows, so end a statement that can find many of them with `LIMIT 1`.
    ///
    /// # Errors
    /// See [`all`](Self::all).
    pub async fn first<T: DeserializeOwned>(self) -> Result<Option<T>, DatabaseError> {
        self.rows().await?.first()
    }

    /// Runs the statement, and returns the number of rows that it inserted, updated or deleted. Rows that triggers and foreign keys change
    /// count too.
    ///
    /// # Errors
    /// The statement failed.
    pub async fn run(self) -> Result<u64, DatabaseError> {
        let database = self.database.clone();
        database.batch([self]).await?.first().map_or(Ok(0), Rows::changes)
    }

    async fn rows(self) -> Result<Rows, DatabaseError> {
        self.check()?;
        let engine = self.database.engine.clone();
        engine.query(self).await.map(Rows::new)
    }

    /// Checks the limits that all databases share, because a native test would otherwise accept more than D1.
    fn check(&self) -> Result<(), DatabaseError> {
        if self.sql.len() > SQL_BYTES {
            return Err(invalid(format!(
                "a statement has {} bytes, and must have at most {SQL_BYTES}",
                self.sql.len()
            )));
        }
        single_statement::check(&self.sql).map_err(invalid)?;
        if self.values.len() > SQL_PARAMETERS {
            return Err(invalid(format!("a statement must have at most {SQL_PARAMETERS} parameters")));
        }
        for (value, number) in self.values.iter().zip(1_usize..) {
            let problem = match value {
                SqlValue::Integer(integer) if integer.unsigned_abs() > MOST_INTEGER.unsigned_abs() => {
                    "a number beyond 2^53 - 1: store it as text"
                }
                SqlValue::Real(real) if !real.is_finite() => "a number that is not finite",
                SqlValue::Text(text) if text.len() > SQL_VALUE_BYTES => "a text of more than 2 000 000 bytes",
                SqlValue::Blob(bytes) if bytes.len() > SQL_VALUE_BYTES => "more than 2 000 000 bytes",
                _ => continue,
            };
            return Err(invalid(format!("the parameter ?{number} of a statement is {problem}")));
        }
        Ok(())
    }
}

fn invalid(cause: String) -> DatabaseError {
    DatabaseError::new(DatabaseFailure::Statement, cause)
}
