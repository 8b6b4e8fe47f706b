//! The error of a database.

use std::fmt;

use crate::limits::SQL_RESULT_BYTES;

/// The error of a [`Database`](super::Database).
///
/// `?` converts it into a [`HandlerError`](crate::HandlerError): the caller gets a fixed sentence, and the text goes to the log. A handler
/// that expects a failure looks at [`kind`](Self::kind):
///
/// ```
/// use edge_mcp::HandlerError;
/// use edge_mcp::storage::{Database, DatabaseFailure};
///
/// async fn add(notes: &Database, title: &str) -> Result<(), HandlerError> {
///     match notes.query("INSERT INTO notes (title) VALUES (?1)").bind(title).run().await {
///         Err(error) if error.kind == DatabaseFailure::Constraint => {
///             Err(HandlerError::new("A note has this title already. Choose another title."))
///         }
///         added => Ok(added.map(drop)?),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseError {
    /// The kind of the failure.
    pub kind: DatabaseFailure,
    /// The sentence for the log.
    cause: String,
}

/// The kind of the failure of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DatabaseFailure {
    /// A table or a column does not exist: the migrations have not been applied, or the statement has a mistake.
    NotMigrated,
    /// A constraint of a table rejects a value, such as `UNIQUE`, `NOT NULL` or a foreign key.
    Constraint,
    /// The database rejects the statement or the value of a parameter.
    Statement,
    /// A row does not have the type that the program reads.
    Row,
    /// The database does not answer.
    Unavailable,
}

/// Parts of the messages of SQLite and D1, and the kinds of failures that they mean. The first match counts.
const KINDS: &[(&str, DatabaseFailure)] = &[
    ("no such table", DatabaseFailure::NotMigrated),
    ("no such column", DatabaseFailure::NotMigrated),
    ("has no column named", DatabaseFailure::NotMigrated),
    ("SQLITE_CONSTRAINT", DatabaseFailure::Constraint),
    ("SQLITE_INTERRUPT", DatabaseFailure::Unavailable),
    ("SQLITE_FULL", DatabaseFailure::Unavailable),
    ("SQLITE_", DatabaseFailure::Statement),
    ("Wrong number of parameter bindings", DatabaseFailure::Statement),
    ("No SQL statements detected", DatabaseFailure::Statement),
    ("did not contain a statement", DatabaseFailure::Statement),
];

impl DatabaseError {
    /// Creates an error. The cause is a sentence for the log.
    pub fn new(kind: DatabaseFailure, cause: impl Into<String>) -> Self {
        Self { kind, cause: cause.into() }
    }

    /// Creates the error of a result that is too long.
    pub(crate) fn too_long(bytes: usize) -> Self {
        let cause =
            format!("a statement returned {bytes} bytes, and must return at most {SQL_RESULT_BYTES}: add LIMIT");
        Self { kind: DatabaseFailure::Statement, cause }
    }

    /// Creates the error of a message of SQLite or D1. `database` is the name of the binding.
    pub fn of_message(database: &str, message: &str) -> Self {
        let message = message.trim_start_matches("D1_ERROR: ");
        let known = KINDS.iter().find(|(part, _)| message.contains(part));
        let kind = known.map_or(DatabaseFailure::Unavailable, |(_, kind)| *kind);
        let cause = match kind {
            DatabaseFailure::NotMigrated => format!(
                "the database `{database}` rejects a statement ({message}): apply the migrations with \
                 `npx wrangler d1 migrations apply {database} --local`, or with `--remote` for a deployed Worker, or correct the name"
            ),
            DatabaseFailure::Unavailable => format!("the database `{database}` failed ({message})"),
            _ => format!("the database `{database}` rejects a statement ({message})"),
        };
        Self { kind, cause }
    }
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause)
    }
}

impl std::error::Error for DatabaseError {}
