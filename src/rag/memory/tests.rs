use serde_json::{Map, json};

use super::MemoryStore;
use crate::rag::{
    ChunkOptions, Document, Edge, Filter, SaveStore, Saved, Search, SearchStore, Space, StoreFailure, chunks,
};
use crate::testing::run;

fn space(name: &str) -> Space {
    Space { index: "docs".into(), name: name.into() }
}

fn document(name: &str, text: &str) -> Document {
    let chunks = chunks(text, &ChunkOptions::new().size(64));
    Document { name: name.into(), metadata: Map::new(), chunks, links: Vec::new() }
}

fn about(name: &str, text: &str, metadata: serde_json::Value) -> Document {
    Document { metadata: metadata.as_object().cloned().expect("an object"), ..document(name, text) }
}

async fn found(store: &MemoryStore, space: &Space, question: &str, filter: Filter) -> Vec<String> {
    let search = Search { space: space.clone(), ..Search::new(question).within(filter) };
    let found = store.search(search).await.expect("a search").passages.into_iter().map(|found| found.passage);
    found.map(|passage| format!("{}#{}", passage.document, passage.ordinal)).collect()
}

/// R40: the words and stems are those of the other stores, and so is the order.
#[test]
fn passages_are_found_by_their_words() {
    run(async {
        let (store, space) = (MemoryStore::new(), space(""));
        for (name, text) in [
            ("a", "# Notes\n\nThe teapot is warm, and so is the kettle, and the cup, too."),
            ("b", "# Notes\n\nWarm the pots. Then warm the cups."),
            ("c", "# Warm pots\n\nNothing else."),
            ("d", "# Other\n\nSomething about rotating keys."),
            ("e", "# Other\n\nÉcoles."),
            ("f", "# Other\n\nNo matter."),
        ] {
            store.save(&space, &document(name, text)).await.expect("saved");
        }
        // The heading counts 5 times, and a short passage comes before a long one.
        assert_eq!(found(&store, &space, "warming", Filter::default()).await, ["c#0", "b#0", "a#0"]);
        // The shorter passage comes first.
        assert_eq!(found(&store, &space, "rotate ecole", Filter::default()).await, ["e#0", "d#0"]);
        assert_eq!(found(&store, &space, "\"x\" AND (OR", Filter::default()).await, [""; 0]);
        // Words that no passage contains are corrected.
        assert_eq!(found(&store, &space, "rotatoing keettle", Filter::default()).await.len(), 2);

        let search = Search { space: space.clone(), ..Search::new("warm").top_k(2) };
        assert_eq!(store.search(search).await.expect("a search").passages.len(), 2);
        // R70, and the text that each passage must contain.
        let none = store.search(Search { space: space.clone(), ..Search::new("?") }).await.expect("a search");
        assert_eq!(none.note.as_deref(), Some("The question has no words to search for."));
        let search = Search { space, containing: Some("the kettle".into()), ..Search::new("warm") };
        let found = store.search(search).await.expect("a search").passages;
        assert_eq!(found.iter().map(|found| found.passage.document.as_str()).collect::<Vec<_>>(), ["a"]);
    });
}

/// R15 and R72: a search returns only passages of its space and index that match the filter.
#[test]
fn a_search_stays_in_its_space_and_filter() {
    run(async {
        let (store, one, other) = (MemoryStore::new(), space("one"), space("other"));
        let index = Space { index: "notes".into(), ..one.clone() };
        for (space, name, level) in [(&one, "a", 1), (&one, "b", 2), (&other, "c", 2), (&index, "d", 2)] {
            store.save(space, &about(name, "Tea.", json!({ "level": level }))).await.expect("saved");
        }
        assert_eq!(found(&store, &one, "tea", Filter::default()).await, ["a#0", "b#0"]);
        assert_eq!(found(&store, &one, "tea", Filter::gt("level", 1)).await, ["b#0"]);
        assert_eq!(found(&store, &other, "tea", Filter::default()).await, ["c#0"]);
        assert_eq!(found(&store, &space(""), "tea", Filter::default()).await, [""; 0]);

        let ids: Vec<_> = (1..=4).rev().collect();
        let passages = store.passages(&one, &ids, &Filter::default()).await.expect("passages");
        assert_eq!(passages.iter().map(|passage| passage.document.as_str()).collect::<Vec<_>>(), ["b", "a"]);
        let invalid = Filter::eq("no name", 1);
        let error = store.passages(&one, &ids, &invalid).await.expect_err("an invalid filter");
        assert_eq!(error.kind, StoreFailure::Filter);
    });
}

/// R26 and R62: a chunk that is still there keeps its number, and no number is used again.
#[test]
fn unchanged_chunks_keep_their_numbers() {
    run(async {
        let (store, space) = (MemoryStore::new(), space(""));
        let (first, second) = ("# A\n\nOne cup.\n", "# B\n\nTwo cups.\n");
        let save = async |text: String| store.save(&space, &document("tea", &text)).await.expect("saved");
        let ids = async || {
            let all: Vec<_> = (1..10).collect();
            let passages = store.passages(&space, &all, &Filter::default()).await.expect("passages");
            passages.into_iter().map(|passage| (passage.id, passage.ordinal)).collect::<Vec<_>>()
        };
        assert_eq!(save(format!("{first}{second}")).await, Saved { chunks: 2, inserted: 2, deleted: 0 });
        assert_eq!(ids().await, [(1, 0), (2, 1)]);
        assert_eq!(save(format!("{first}{second}")).await, Saved { chunks: 2, inserted: 0, deleted: 0 });
        assert_eq!(save(format!("# C\n\nNo cup.\n{second}")).await, Saved { chunks: 2, inserted: 1, deleted: 1 });
        assert_eq!(ids().await, [(2, 1), (3, 0)]);
        assert_eq!(save(second.to_owned()).await, Saved { chunks: 1, inserted: 0, deleted: 1 });
        assert_eq!(ids().await, [(2, 0)]);
        assert_eq!(found(&store, &space, "no one", Filter::default()).await, [""; 0]);

        assert_eq!(store.remove(&space, "tea").await.ok(), Some(true));
        assert_eq!(store.remove(&space, "tea").await.ok(), Some(false));
        assert_eq!(save(first.to_owned()).await.inserted, 1);
        assert_eq!(ids().await, [(4, 0)]);
    });
}

/// R84 and R85: edges connect sections, documents and links, and never leave the space and the filter.
#[test]
fn edges_connect_passages() {
    run(async {
        let (store, space) = (MemoryStore::new(), space(""));
        let long = "# A\n\nThe first of the sentences here is of such a length.\n\nThe second of the sentences is too.\n\n# B\n\nEnd.";
        let links = |name: &str| vec![name.to_owned()];
        let tea = Document { links: links("pots"), ..document("tea", long) };
        store.save(&space, &tea).await.expect("saved");
        store.save(&space, &about("pots", "# Pots\n\nIron.", json!({ "draft": true }))).await.expect("saved");
        let far = Document { links: links("pots"), ..document("cups", "# Cups\n\nSmall.") };
        store.save(&space, &far).await.expect("saved");
        assert_eq!(tea.chunks.len(), 3);

        let edges = async |seeds: &[i64], threshold, filter: Filter| {
            let edges = store.edges(&space, seeds, threshold, &filter).await.expect("edges");
            let mut edges: Vec<_> =
                edges.iter().map(|Edge { source, target, weight }| (*source, *target, *weight)).collect();
            edges.sort_by_key(|edge| (edge.0, edge.1));
            edges
        };
        let section = [(1, 2, 1.0), (2, 1, 1.0)];
        assert_eq!(edges(&[1], 0.95, Filter::default()).await, section);
        let all = [(1, 2, 1.0), (1, 4, 0.9), (2, 1, 1.0), (2, 3, 0.75), (4, 1, 0.9), (4, 5, 0.9)];
        assert_eq!(edges(&[1], 0.7, Filter::default()).await, all);
        let published = edges(&[1], 0.7, Filter::ne("draft", true)).await;
        assert_eq!(published, [(1, 2, 1.0), (2, 1, 1.0), (2, 3, 0.75)]);
    });
}
