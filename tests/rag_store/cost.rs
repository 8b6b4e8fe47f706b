//! The cost of a search with a filter.

use edge_mcp::rag::{self, Document, Filter, SaveStore, Search, SearchStore, SqlitePassages};
use edge_mcp::testing::{self, TestDatabase};
use serde_json::{Map, json};

use crate::{document, space};

const DOCUMENTS: u64 = 12;
const CHUNKS: u64 = 10;
const TESTS: u64 = 10;
const TAGS: u64 = 20;

/// Returns the steps that the largest filter of a caller adds to a search. All documents have tags, and each chunk too, if `in_chunks`.
fn steps_of_a_filter(in_chunks: bool) -> u64 {
    let database = TestDatabase::empty();
    database.migrate(&rag::migration("rag").expect("a prefix")).expect("the tables");
    let store = SqlitePassages::new(database.database());
    let text = (0..CHUNKS).fold(String::new(), |text, nth| text + &format!("# Part {nth}\n\nThe walnut.\n\n"));
    let tags: Vec<_> = (0..TAGS).map(|nth| format!("tag-{nth}")).collect();
    let tags = Map::from_iter([("tags".to_owned(), json!(tags))]);
    let largest =
        (0..TESTS).map(|nth| Filter::ne("tags", format!("no-tag-{nth}"))).fold(Filter::default(), Filter::and);
    testing::run(async {
        for nth in 0..DOCUMENTS {
            let mut document = Document { metadata: tags.clone(), ..document(&nth.to_string(), &text) };
            for chunk in document.chunks.iter_mut().filter(|_| in_chunks) {
                chunk.metadata.clone_from(&tags);
            }
            assert_eq!(store.save(&space(), &document).await.expect("saved").chunks, 10);
        }
        let search = async |filter| {
            let before = database.steps();
            let search = Search { space: space(), ..Search::new("walnut").top_k(50).within(filter) };
            assert_eq!(store.search(search).await.expect("a search").passages.len(), 50);
            database.steps() - before
        };
        let unfiltered = search(Filter::default()).await;
        search(largest).await - unfiltered
    })
}

/// A search takes about 12 steps for each tag and test. If it evaluated the filter for each passage, it would take 120.
#[test]
fn the_largest_filter_of_a_caller_reads_the_tags_of_each_document_once_for_each_test() {
    let (steps, most) = (steps_of_a_filter(false), DOCUMENTS * TESTS * TAGS * 24);
    assert!(steps < most, "the filter takes {steps} steps, at most {most}");
}

/// The filter is evaluated once for each chunk with metadata of its own, and not again for each of its words.
#[test]
fn the_largest_filter_of_a_caller_reads_the_tags_of_each_chunk_once_for_each_test() {
    let (steps, most) = (steps_of_a_filter(true), DOCUMENTS * (CHUNKS + 1) * TESTS * TAGS * 24);
    assert!(steps < most, "the filter takes {steps} steps, at most {most}");
}
