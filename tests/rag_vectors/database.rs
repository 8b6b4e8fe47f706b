//! A database that counts its requests, and in which something else happens before one of them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use edge_mcp::rag::{SqlitePassages, SqliteVectors, migration, vector_migration};
use edge_mcp::storage::{Database, DatabaseError, Rows, SqlEngine, Statement};
use edge_mcp::testing::TestDatabase;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::{Map, Value};

/// Returns an empty database with the tables of passages and vectors.
pub(crate) fn empty() -> TestDatabase {
    let database = TestDatabase::empty();
    for sql in [migration("rag"), vector_migration("rag")] {
        database.migrate(&sql.expect("a prefix")).expect("the tables");
    }
    database
}

pub(crate) fn store_in(database: &TestDatabase) -> SqliteVectors {
    SqliteVectors::new(SqlitePassages::new(database.database()))
}

type Event = LocalBoxFuture<'static, ()>;

/// Passes requests to another database.
#[derive(Clone)]
pub(crate) struct Observed {
    database: Database,
    requests: Rc<Cell<usize>>,
    events: Rc<RefCell<Vec<(usize, Event)>>>,
}

impl Observed {
    pub(crate) fn new(test: &TestDatabase) -> Self {
        Self { database: test.database(), requests: Rc::default(), events: Rc::default() }
    }

    /// Runs `event` before the request with this number, counted from 0.
    pub(crate) fn before(&self, request: usize, event: impl Future<Output = ()> + 'static) {
        self.events.borrow_mut().push((request, event.boxed_local()));
    }

    /// Returns the number of requests since the last call.
    pub(crate) fn requests(&self) -> usize {
        self.requests.take()
    }

    pub(crate) fn store(&self) -> SqliteVectors {
        SqliteVectors::new(SqlitePassages::new(Database::new("DB", self.clone())))
    }

    async fn next(&self) {
        let request = self.requests.replace(self.requests.get() + 1);
        let events = std::mem::take(&mut *self.events.borrow_mut());
        let (now, later): (Vec<_>, Vec<_>) = events.into_iter().partition(|(before, _)| *before == request);
        self.events.borrow_mut().extend(later);
        for (_, event) in now {
            event.await;
        }
    }

    fn copy(&self, statement: &Statement) -> Statement {
        let copy = self.database.query(statement.sql().to_owned());
        statement.values().iter().cloned().fold(copy, Statement::bind)
    }
}

/// Returns a result in the form of [`SqlEngine`].
fn text(rows: &Rows) -> Result<String, DatabaseError> {
    let all: Vec<Map<String, Value>> = rows.all()?;
    let columns: Vec<_> = all.first().into_iter().flat_map(Map::keys).cloned().collect();
    let mut result = vec![rows.changes()?.into(), columns.into()];
    result.extend(all.into_iter().map(|row| Value::Array(row.into_iter().map(|(_, value)| value).collect())));
    Ok(Value::Array(result).to_string())
}

impl SqlEngine for Observed {
    fn query(&self, statement: Statement) -> LocalBoxFuture<'_, Result<String, DatabaseError>> {
        async move { Ok(self.batch(vec![statement]).await?.remove(0)) }.boxed_local()
    }

    fn batch(&self, statements: Vec<Statement>) -> LocalBoxFuture<'_, Result<Vec<String>, DatabaseError>> {
        async move {
            self.next().await;
            let results = self.database.batch(statements.iter().map(|statement| self.copy(statement))).await?;
            results.iter().map(text).collect()
        }
        .boxed_local()
    }
}
