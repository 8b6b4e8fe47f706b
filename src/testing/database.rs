//! A database for tests: SQLite in memory.

use std::cell::Cell;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use edge_json::number;
use edge_json::write;
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};
use rusqlite::limits::Limit;
use rusqlite::types::{Null, ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ErrorCode, StatementStatus, params_from_iter};

use super::mathematics;
use crate::limits::{SQL_RESULT_BYTES, SQL_VALUE_BYTES};
use crate::storage::{Database, DatabaseError, DatabaseFailure, SqlEngine, SqlValue, Statement};

/// The limits of D1, apart from those that every [`Database`] checks.
const LIMITS: &[(Limit, i32)] = &[
    (Limit::SQLITE_LIMIT_COLUMN, 100),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 5),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
    (Limit::SQLITE_LIMIT_FUNCTION_ARG, 32),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 10),
    (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 100),
];

/// A database for tests: SQLite in memory, with the limits of D1. A clone is another handle of the same database.
///
/// ```
/// use edge_mcp::testing::{self, TestDatabase};
///
/// let test = TestDatabase::empty();
/// testing::run(async {
///     let notes = test.database();
///     notes.query("CREATE TABLE notes (id INTEGER PRIMARY KEY, title TEXT NOT NULL)").run().await?;
///     notes.query("INSERT INTO notes (title) VALUES (?1)").bind("Tea").run().await?;
///     let notes: Vec<(i64, String)> = notes.query("SELECT id, title FROM notes").all().await?;
///     assert_eq!(notes, [(1, "Tea".to_owned())]);
///     Ok::<_, edge_mcp::storage::DatabaseError>(())
/// }).expect("the statements run");
/// ```
#[derive(Clone)]
pub struct TestDatabase {
    sqlite: Rc<Sqlite>,
    // A batch of a database has only its own statements, so all handles of a test are one database.
    database: Database,
}

struct Sqlite {
    /// The connection, or the error of opening it.
    connection: Result<Connection, String>,
    /// The number of requests that still succeed. `None` means that there is no limit.
    remaining: Cell<Option<usize>>,
    /// The steps that SQLite has taken for all statements.
    steps: Cell<u64>,
}

impl TestDatabase {
    /// Creates a database that has run the migrations in a folder: its files `*.sql`, in the order of their names.
    ///
    /// A relative path begins at the folder of the package, in which cargo runs the tests: `migrations`.
    ///
    /// # Errors
    /// The folder cannot be read, has no migrations, or one of them fails. The error names the file.
    pub fn migrated(folder: impl AsRef<Path>) -> Result<Self, DatabaseError> {
        let folder = folder.as_ref();
        let unreadable = |error: std::io::Error| failed(format!("{} cannot be read: {error}", folder.display()));
        let files = fs::read_dir(folder).map_err(unreadable)?.map(|entry| entry.map(|entry| entry.path()));
        let mut files = files.collect::<Result<Vec<PathBuf>, _>>().map_err(unreadable)?;
        files.retain(|file| file.extension().is_some_and(|extension| extension == "sql"));
        files.sort();
        if files.is_empty() {
            return Err(failed(format!("{} has no migrations", folder.display())));
        }
        let database = Self::empty();
        for file in files {
            let sql = fs::read_to_string(&file).map_err(unreadable)?;
            database.migrate(&sql).map_err(|error| failed(format!("{}: {error}", file.display())))?;
        }
        Ok(database)
    }

    /// Creates a database without tables.
    pub fn empty() -> Self {
        let connection = open().map_err(|error| error.to_string());
        let sqlite = Rc::new(Sqlite { connection, remaining: Cell::new(None), steps: Cell::new(0) });
        let database = Database::new(NAME, sqlite.clone());
        Self { sqlite, database }
    }

    /// Runs the statements of a migration.
    ///
    /// # Errors
    /// A statement fails.
    pub fn migrate(&self, sql: &str) -> Result<(), DatabaseError> {
        self.sqlite.with(|connection| connection.execute_batch(sql))
    }

    /// Returns the database, for the state of an endpoint. Its name is `DB`.
    pub fn database(&self) -> Database {
        self.database.clone()
    }

    /// Lets all requests fail after the next `requests`, as those to a database that does not answer.
    pub fn fail_after(&self, requests: usize) {
        self.sqlite.remaining.set(Some(requests));
    }

    /// Lets all requests succeed again.
    pub fn recover(&self) {
        self.sqlite.remaining.set(None);
    }

    /// Returns the number of steps that the virtual machine of SQLite has taken for all statements. A test can compare the steps of two
    /// queries, which does not depend on the machine as their time does.
    pub fn steps(&self) -> u64 {
        self.sqlite.steps.get()
    }
}

const NAME: &str = "DB";

fn open() -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    connection.pragma_update(None, "foreign_keys", true)?;
    for (limit, most) in LIMITS {
        connection.set_limit(*limit, *most)?;
    }
    mathematics::add(&connection)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, i32::try_from(SQL_VALUE_BYTES).unwrap_or(i32::MAX))?;
    Ok(connection)
}

impl Sqlite {
    fn with<T>(&self, run: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, DatabaseError> {
        match &self.connection {
            Ok(connection) => run(connection).map_err(|error| database_error(&error)),
            Err(error) => Err(failed(error.clone())),
        }
    }

    /// Runs statements in one transaction, as D1 does.
    fn transaction(&self, statements: &[Statement]) -> Result<Vec<String>, DatabaseError> {
        if let Some(remaining) = self.remaining.get() {
            self.remaining.set(Some(remaining.saturating_sub(1)));
            if remaining == 0 {
                return Err(DatabaseError::of_message(NAME, "a test lets it fail"));
            }
        }
        let results = self.with(|connection| {
            let transaction = connection.unchecked_transaction()?;
            let results = statements
                .iter()
                .map(|statement| self.execute(connection, statement))
                .collect::<Result<Vec<_>, _>>()?;
            transaction.commit()?;
            Ok(results)
        })?;
        match results.iter().find(|result| result.len() > SQL_RESULT_BYTES) {
            Some(result) => Err(DatabaseError::too_long(result.len())),
            None => Ok(results),
        }
    }

    /// Runs a statement, and returns its result in the form of [`SqlEngine`].
    fn execute(&self, connection: &Connection, statement: &Statement) -> rusqlite::Result<String> {
        let before = connection.total_changes();
        let mut prepared = prepare(connection, statement.sql())?;
        let columns: Vec<_> = prepared.column_names().map(str::to_owned).collect();
        let mut found = prepared.query(params_from_iter(statement.values()))?;
        let mut rows = String::new();
        while let Some(row) = found.next()? {
            let cells: Vec<_> = (0..columns.len()).map(|at| row.get_ref(at).map(cell)).collect::<Result<_, _>>()?;
            rows.extend([",[", &cells.join(","), "]"]);
        }
        drop(found);
        let steps = u64::try_from(prepared.get_status(StatementStatus::VmStep)).unwrap_or_default();
        self.steps.set(self.steps.get().saturating_add(steps));
        let changes = connection.total_changes().saturating_sub(before);
        let columns = write::text(&columns.into());
        Ok(format!("[{changes},{columns}{rows}]"))
    }
}

/// Prepares a statement.
///
/// This version of SQLite applies its limit on the depth of expressions to the number of cursors of table expressions too. D1 does not, so a
/// statement that fails for this reason, and whose expressions are within the limit, is prepared again without the limit.
fn prepare<'c>(connection: &'c Connection, sql: &str) -> rusqlite::Result<rusqlite::Statement<'c>> {
    match connection.prepare(sql) {
        Err(error) if error.to_string().contains("subqueries nested too deep") => {
            let limit = connection.set_limit(Limit::SQLITE_LIMIT_EXPR_DEPTH, i32::MAX)?;
            let prepared = connection.prepare(sql);
            connection.set_limit(Limit::SQLITE_LIMIT_EXPR_DEPTH, limit)?;
            prepared
        }
        prepared => prepared,
    }
}

/// Returns a value as JSON, as JavaScript writes the value that D1 returns.
fn cell(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "null".to_owned(),
        ValueRef::Integer(integer) => integer.to_string(),
        ValueRef::Real(real) if !real.is_finite() => "null".to_owned(),
        ValueRef::Real(0.0) => "0".to_owned(),
        ValueRef::Real(real) => number::text(real).trim_end_matches(".0").to_owned(),
        // A text can have bytes that are not UTF-8, or the encoding of other bytes.
        ValueRef::Text(text) => write::text(&String::from_utf8_lossy(text).into()),
        ValueRef::Blob(bytes) => write::text(&bytes.into()),
    }
}

/// D1 passes every number as REAL.
impl rusqlite::ToSql for SqlValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        #[allow(clippy::cast_precision_loss, reason = "a statement rejects numbers beyond 2^53 - 1")]
        Ok(match self {
            Self::Null => Null.into(),
            Self::Integer(integer) => ToSqlOutput::Owned(Value::Real(*integer as f64)),
            Self::Real(real) => ToSqlOutput::Owned(Value::Real(*real)),
            Self::Text(text) => text.as_str().into(),
            Self::Blob(bytes) => bytes.as_slice().into(),
        })
    }
}

fn failed(cause: String) -> DatabaseError {
    DatabaseError::new(DatabaseFailure::Statement, cause)
}

/// Converts an error of SQLite into the message of D1.
fn database_error(error: &rusqlite::Error) -> DatabaseError {
    let is_constraint = error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation);
    let code = if is_constraint { "SQLITE_CONSTRAINT" } else { "SQLITE_ERROR" };
    let message = match error {
        rusqlite::Error::SqlInputError { msg, .. } | rusqlite::Error::SqliteFailure(_, Some(msg)) => msg.clone(),
        other => other.to_string(),
    };
    DatabaseError::of_message(NAME, &format!("{message}: {code}"))
}

impl SqlEngine for Rc<Sqlite> {
    fn query(&self, statement: Statement) -> LocalBoxFuture<'_, Result<String, DatabaseError>> {
        let results = self.transaction(&[statement]);
        let result = results.map(|mut results| results.pop().unwrap_or_default());
        ready(result).boxed_local()
    }

    fn batch(&self, statements: Vec<Statement>) -> LocalBoxFuture<'_, Result<Vec<String>, DatabaseError>> {
        ready(self.transaction(&statements)).boxed_local()
    }
}

/// The engine of [`TestDatabase::database`], for an engine of a test that adds its own faults.
impl SqlEngine for TestDatabase {
    fn query(&self, statement: Statement) -> LocalBoxFuture<'_, Result<String, DatabaseError>> {
        self.sqlite.query(statement)
    }

    fn batch(&self, statements: Vec<Statement>) -> LocalBoxFuture<'_, Result<Vec<String>, DatabaseError>> {
        self.sqlite.batch(statements)
    }
}

impl fmt::Debug for TestDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TestDatabase")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::run;

    fn kind<T: fmt::Debug>(result: Result<T, DatabaseError>) -> DatabaseFailure {
        result.expect_err("an error").kind
    }

    #[test]
    fn migrations_run_in_the_order_of_their_names() {
        let test = TestDatabase::migrated("migrations").expect("the migrations of this repository");
        let tables =
            test.database().query("SELECT count(*) FROM sqlite_schema WHERE name IN ('documents', 'rag_chunks')");
        assert_eq!(run(tables.first::<u32>()), Ok(Some(2)));
        for (folder, problem) in [("nowhere", "nowhere cannot be read"), ("src", "src has no migrations")] {
            let error = TestDatabase::migrated(folder).expect_err(folder).to_string();
            assert!(error.starts_with(problem), "{error}");
        }
        let error = test.migrate("CREATE TABLE documents (a)").expect_err("the table exists");
        assert!(error.to_string().contains("already exists"), "{error}");
    }

    #[test]
    fn a_database_fails_when_a_test_says_so() {
        let test = TestDatabase::empty();
        let select = || test.database().query("SELECT 1");
        test.fail_after(1);
        assert_eq!(run(select().first::<u8>()), Ok(Some(1)));
        for _ in 0..2 {
            assert_eq!(kind(run(select().first::<u8>())), DatabaseFailure::Unavailable);
            assert_eq!(kind(run(select().run())), DatabaseFailure::Unavailable);
        }
        test.recover();
        assert_eq!(run(select().first::<u8>()), Ok(Some(1)));
    }

    #[test]
    fn a_batch_has_limits_and_belongs_to_one_database() {
        let (one, other) = (TestDatabase::empty().database(), TestDatabase::empty().database());
        let select = || one.query("SELECT 1");
        assert_eq!(run(one.batch((0..1000).map(|_| select()))).map(|results| results.len()), Ok(1000));
        assert_eq!(kind(run(one.batch((0..1001).map(|_| select())))), DatabaseFailure::Statement);
        assert_eq!(kind(run(other.batch([select()]))), DatabaseFailure::Statement);
        assert!(run(one.batch([])).is_ok_and(|results| results.is_empty()));
    }

    #[test]
    fn a_result_has_a_limit() {
        let database = TestDatabase::empty().database();
        let rows = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < ?1) SELECT hex(zeroblob(500000)) AS a FROM n";
        assert!(run(database.query(rows).bind(16).all::<String>()).is_ok());
        assert_eq!(kind(run(database.query(rows).bind(17).all::<String>())), DatabaseFailure::Statement);
    }

    #[test]
    fn an_error_names_the_command_that_migrates() {
        let error = run(TestDatabase::empty().database().query("SELECT 1 FROM notes").run()).expect_err("no table");
        assert_eq!(error.kind, DatabaseFailure::NotMigrated);
        let text = error.to_string();
        assert!(
            text.contains("no such table: notes") && text.contains("npx wrangler d1 migrations apply DB"),
            "{text}"
        );
    }
}
