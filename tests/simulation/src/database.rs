//! The databases: SQLite in memory, whose answers take time and can fail.

use std::rc::Rc;

use edge_mcp::storage::{Database, DatabaseError, DatabaseFailure, SqlEngine, Statement};
use edge_mcp::testing::TestDatabase;
use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::faults::Point;
use crate::world::World;

/// A check of the tables, after each batch.
pub type Check = Rc<dyn Fn(&TestDatabase)>;

/// A database that can fail before or after a batch takes effect.
pub struct FaultyDatabase {
    world: Rc<World>,
    sqlite: TestDatabase,
    check: Check,
}

impl FaultyDatabase {
    /// Returns a handle of a database for an isolate.
    pub fn database(world: &Rc<World>, sqlite: &TestDatabase, check: &Check) -> Database {
        Database::new("DB", Self { world: world.clone(), sqlite: sqlite.clone(), check: check.clone() })
    }

    /// Replaces the function that returns the real time by the time of the run.
    fn timed(&self, statement: Statement) -> Statement {
        const CLOCK: &str = "unixepoch()";
        if !statement.sql().contains(CLOCK) {
            return statement;
        }
        let sql = statement.sql().replace(CLOCK, &(self.world.schedule.now_ms() / 1000).to_string());
        statement.values().iter().cloned().fold(self.sqlite.database().query(sql), Statement::bind)
    }

    async fn run<T>(&self, work: LocalBoxFuture<'_, Result<T, DatabaseError>>) -> Result<T, DatabaseError> {
        let World { faults, schedule, .. } = &*self.world;
        self.world.ledger.count();
        schedule.sleep(faults.at(Point::DatabaseIsSlow).map_or(1, |fault| fault.ms(30_000))).await;
        if faults.at(Point::DatabaseFails).is_some() {
            return Err(unavailable());
        }
        let result = work.await;
        (self.check)(&self.sqlite);
        schedule.sleep(1).await;
        if faults.at(Point::DatabaseFailsLate).is_some() { Err(unavailable()) } else { result }
    }
}

fn unavailable() -> DatabaseError {
    DatabaseError::new(DatabaseFailure::Unavailable, "the database does not answer")
}

impl SqlEngine for FaultyDatabase {
    fn query(&self, statement: Statement) -> LocalBoxFuture<'_, Result<String, DatabaseError>> {
        let work = async move { self.sqlite.query(self.timed(statement)).await };
        self.run(work.boxed_local()).boxed_local()
    }

    fn batch(&self, statements: Vec<Statement>) -> LocalBoxFuture<'_, Result<Vec<String>, DatabaseError>> {
        let work = async move {
            let statements = statements.into_iter().map(|statement| self.timed(statement));
            self.sqlite.batch(statements.collect()).await
        };
        self.run(work.boxed_local()).boxed_local()
    }
}
