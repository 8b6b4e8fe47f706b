//! The databases: SQLite in memory, whose answers take time and can fail.

use std::rc::Rc;

use edge_mcp::storage::{Database, DatabaseError, DatabaseFailure, Engine, Statement};
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

    async fn run<T>(&self, work: LocalBoxFuture<'_, Result<T, DatabaseError>>) -> Result<T, DatabaseError> {
        let World { faults, schedule, .. } = &*self.world;
        self.world.ledger.count();
        schedule.sleep(faults.at(Point::DatabaseIsSlow).map_or(1, |fault| fault.ms(15_000))).await;
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

impl Engine for FaultyDatabase {
    fn query(&self, statement: Statement) -> LocalBoxFuture<'_, Result<String, DatabaseError>> {
        self.run(self.sqlite.query(statement)).boxed_local()
    }

    fn batch(&self, statements: Vec<Statement>) -> LocalBoxFuture<'_, Result<Vec<String>, DatabaseError>> {
        self.run(self.sqlite.batch(statements)).boxed_local()
    }
}
