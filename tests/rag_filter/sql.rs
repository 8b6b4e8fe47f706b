//! The conditions of filters in SQLite. tests/statements runs them with each operator, and the largest ones, also in D1.

use edge_mcp::rag::Filter;
use edge_mcp::storage::{Database, SqlValue, Statement};
use edge_mcp::testing::{self, TestDatabase};
use serde_json::{Map, Value, json};

use crate::pairs;
use crate::random::Random;

/// Returns whether each document (a row) matches each filter (a column), as SQLite evaluates it.
async fn evaluated(
    database: &Database,
    metadata: &str,
    filters: &[Filter],
    documents: &[Map<String, Value>],
) -> Vec<Vec<bool>> {
    let mut columns = Vec::new();
    let mut values = vec![SqlValue::from(json!(documents).to_string())];
    for (filter, nth) in filters.iter().zip(2..) {
        let condition = filter.to_sql("documents.metadata", nth).expect("a valid filter");
        columns.push(format!("{} AS c{nth}", condition.text));
        values.push(condition.values.into());
    }
    let columns = columns.join(", ");
    let sql = format!("SELECT {columns} FROM (SELECT {metadata} AS metadata FROM json_each(?1)) AS documents");
    values.into_iter().fold(database.query(sql), Statement::bind).all().await.expect("rows")
}

/// R23: the conditions have the same results as `Filter::matches`, for metadata in the text form and in the binary form of SQLite.
#[test]
fn random_filters_have_the_same_results_in_sqlite() {
    let database = TestDatabase::empty().database();
    let (mut all, mut matching) = (0, 0);
    for seed in 0..40 {
        println!("seed {seed}");
        let mut random = Random::new(seed);
        let (filters, json): (Vec<_>, Vec<_>) = (0..25).map(|_| pairs::filter(&mut random)).unzip();
        let documents: Vec<_> = (0..10).map(|_| pairs::metadata(&mut random)).collect();
        for form in ["value", "jsonb(value)"] {
            let rows = testing::run(evaluated(&database, form, &filters, &documents));
            assert_eq!(rows.len(), documents.len());
            for (row, document) in rows.iter().zip(&documents) {
                assert_eq!(row.len(), filters.len());
                for ((result, filter), json) in row.iter().zip(&filters).zip(&json) {
                    assert_eq!(*result, filter.matches(document), "{json} for {document:?} as {form}");
                    all += 1;
                    matching += usize::from(*result);
                }
            }
        }
    }
    // The test is only useful if many pairs match and many do not.
    assert!(all == 20_000 && matching > all / 10 && matching < all / 2, "{all} {matching}");
}
