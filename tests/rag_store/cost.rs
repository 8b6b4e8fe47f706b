//! The cost of a search with a filter.

use std::cell::Cell;
use std::rc::Rc;

use edge_mcp::rag::{self, Document, Filter, PassageStore, Query, Search, SqlitePassages};
use edge_mcp::storage::{Database, DatabaseError, DatabaseFailure, Engine, Statement};
use edge_mcp::testing;
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, StatementStatus, params_from_iter};
use serde_json::{Map, Value, json};

use crate::{document, space};

/// SQLite with a count of the steps of its virtual machine.
struct Counting {
    connection: Connection,
    steps: Rc<Cell<i32>>,
}

impl Counting {
    fn run(&self, statement: &Statement) -> rusqlite::Result<String> {
        let mut prepared = self.connection.prepare(statement.sql())?;
        let columns: Vec<_> = prepared.column_names().map(str::to_owned).collect();
        let mut result = vec![json!(0), json!(columns)];
        let rows = prepared.query_map(params_from_iter(statement.values()), |row| row.get::<_, String>(0))?;
        for row in rows {
            result.push(json!([row?]));
        }
        self.steps.set(self.steps.get() + prepared.get_status(StatementStatus::VmStep));
        Ok(Value::Array(result).to_string())
    }
}

fn failed(error: rusqlite::Error) -> DatabaseError {
    DatabaseError::new(DatabaseFailure::Statement, error.to_string())
}

impl Engine for Counting {
    fn query(&self, statement: Statement) -> LocalBoxFuture<'_, Result<String, DatabaseError>> {
        ready(self.run(&statement).map_err(failed)).boxed_local()
    }

    fn batch(&self, statements: Vec<Statement>) -> LocalBoxFuture<'_, Result<Vec<String>, DatabaseError>> {
        let results = statements.iter().map(|statement| self.run(statement)).collect::<Result<_, _>>();
        ready(results.map_err(failed)).boxed_local()
    }
}

/// A search takes about 12 steps for each tag and test. If it evaluated the filter for each passage, it would take 120.
#[test]
fn the_largest_filter_of_a_caller_reads_the_tags_of_each_document_once_for_each_test() {
    const DOCUMENTS: i32 = 12;
    const TESTS: i32 = 10;
    const TAGS: i32 = 20;
    let connection = Connection::open_in_memory().expect("SQLite");
    connection
        .create_scalar_function("ln", 1, FunctionFlags::SQLITE_DETERMINISTIC, |call| call.get(0).map(f64::ln))
        .expect("a function");
    connection.execute_batch(&rag::migration("rag").expect("a prefix")).expect("the tables");
    let steps = Rc::new(Cell::new(0));
    let store = SqlitePassages::new(Database::new("DB", Counting { connection, steps: steps.clone() }));
    let text = (0..10).fold(String::new(), |text, nth| text + &format!("# Part {nth}\n\nThe walnut.\n\n"));
    let tags: Vec<_> = (0..TAGS).map(|nth| format!("tag-{nth}")).collect();
    let largest =
        (0..TESTS).map(|nth| Filter::ne("tags", format!("no-tag-{nth}"))).fold(Filter::default(), Filter::and);
    testing::run(async {
        for nth in 0..DOCUMENTS {
            let metadata = Map::from_iter([("tags".to_owned(), json!(tags))]);
            let saved = store.save(&space(), &Document { metadata, ..document(&nth.to_string(), &text) }).await;
            assert_eq!(saved.expect("saved").chunks, 10);
        }
        let search = async |filter| {
            let before = steps.get();
            let search = Search { space: space(), query: Query::new("walnut"), filter, most: 50 };
            assert_eq!(store.search(search).await.expect("a search").indexed, 120);
            steps.get() - before
        };
        let unfiltered = search(Filter::default()).await;
        let filtered = search(largest).await;
        let most = DOCUMENTS * TESTS * TAGS * 24;
        assert!(filtered - unfiltered < most, "{unfiltered} steps, with the filter {filtered}, at most {most} more");
    });
}
