//! The cost of a search with a filter.

use edge_mcp::rag::{self, Document, Filter, SaveStore, Search, SearchStore, SqlitePassages};
use edge_mcp::testing::{self, TestDatabase};
use serde_json::{Map, json};

use crate::{document, space};

/// A search takes about 12 steps for each tag and test. If it evaluated the filter for each passage, it would take 120.
#[test]
fn the_largest_filter_of_a_caller_reads_the_tags_of_each_document_once_for_each_test() {
    const DOCUMENTS: u64 = 12;
    const TESTS: u64 = 10;
    const TAGS: u64 = 20;
    let database = TestDatabase::empty();
    database.migrate(&rag::migration("rag").expect("a prefix")).expect("the tables");
    let store = SqlitePassages::new(database.database());
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
            let before = database.steps();
            let search = Search { space: space(), ..Search::new("walnut").top_k(50).within(filter) };
            assert_eq!(store.search(search).await.expect("a search").passages.len(), 50);
            database.steps() - before
        };
        let unfiltered = search(Filter::default()).await;
        let filtered = search(largest).await;
        let most = DOCUMENTS * TESTS * TAGS * 24;
        assert!(filtered - unfiltered < most, "{unfiltered} steps, with the filter {filtered}, at most {most} more");
    });
}
