//! Runs the tables on the machines of native tests. tests/e2e/storage.test.mjs runs them on D1 and Workers KV.

use edge_mcp::rag::{migration, vector_migration};
use edge_mcp::testing::{self, TestDatabase, TestHost, TestKv};
use statements::{check_database, check_passages, check_store, rules};

#[test]
fn sqlite_has_the_outcomes_of_the_table() {
    let failures = testing::run(async { check_database(&TestDatabase::empty().database()).await });
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn sqlite_runs_each_statement_on_passages() {
    let database = TestDatabase::empty();
    for sql in [migration("rag"), vector_migration("rag")] {
        database.migrate(&sql.expect("a prefix")).expect("the tables");
    }
    let failures =
        testing::run(async { check_passages(&database.database(), &testing::context(&TestHost::new())).await });
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn the_map_has_the_outcomes_of_the_table() {
    let failures = testing::run(async { check_store(&TestKv::new(&TestHost::new()).store()).await });
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn the_page_lists_the_rules() {
    let page = include_str!("../../../docs/testing.md");
    let rows: Vec<_> = rules().into_iter().map(|rule| format!("| {rule} |")).collect();
    let missing: Vec<_> = rows.iter().filter(|row| !page.contains(row.as_str())).collect();
    assert!(missing.is_empty(), "docs/testing.md must have these rows:\n{}", rows.join("\n"));
}
