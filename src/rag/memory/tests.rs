use std::collections::BTreeSet;

use serde_json::{Map, json};

use super::MemoryStore;
use crate::rag::{
    ChunkOptions, Document, Edge, Filter, Link, SaveCounts, SaveStore, Search, SearchStore, Space, StoreFailure, chunks,
};
use crate::testing::run;

fn space(name: &str) -> Space {
    Space { index: "docs".into(), name: name.into() }
}

fn document(name: &str, text: &str) -> Document {
    let chunks = chunks(text, &ChunkOptions::new().size(64));
    Document { name: name.into(), metadata: Map::new(), chunks }
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
        assert_eq!(save(format!("{first}{second}")).await, SaveCounts { chunks: 2, inserted: 2, deleted: 0 });
        assert_eq!(ids().await, [(1, 0), (2, 1)]);
        assert_eq!(save(format!("{first}{second}")).await, SaveCounts { chunks: 2, inserted: 0, deleted: 0 });
        assert_eq!(save(format!("# C\n\nNo cup.\n{second}")).await, SaveCounts { chunks: 2, inserted: 1, deleted: 1 });
        assert_eq!(ids().await, [(2, 1), (3, 0)]);
        assert_eq!(save(second.to_owned()).await, SaveCounts { chunks: 1, inserted: 0, deleted: 1 });
        assert_eq!(ids().await, [(2, 0)]);
        assert_eq!(found(&store, &space, "no one", Filter::default()).await, [""; 0]);

        assert_eq!(store.remove(&space, "tea").await.ok(), Some(true));
        assert_eq!(store.remove(&space, "tea").await.ok(), Some(false));
        assert_eq!(save(first.to_owned()).await.inserted, 1);
        assert_eq!(ids().await, [(4, 0)]);
    });
}

/// R84 and R85: links connect a passage with the section or the document to which they lead, within the space and the filter. Links within a
/// document do not.
#[test]
fn links_connect_passages() {
    run(async {
        let (store, space) = (MemoryStore::new(), space(""));
        let link = |document: &str, section: &str| Link {
            document: document.to_owned(),
            section: Some(section.to_owned()).filter(|section| !section.is_empty()),
        };
        let mut tea = document("tea", "# Tea\n\nSee the pots.\n\n# Water\n\nIt is warm.");
        tea.chunks[0].links = vec![link("pots", "iron-pots"), link("cups", ""), link("tea", "Water"), link("tea", "")];
        tea.chunks[1].links = vec![link("pots", "of-glass")];
        store.save(&space, &tea).await.expect("saved");
        let edges = async |seeds: &[i64], threshold, filter: Filter| {
            let edges = store.edges(&space, seeds, threshold, &filter).await.expect("edges");
            assert!(edges.iter().all(|edge| (edge.weight - 0.9).abs() < 1e-9));
            edges.iter().map(|Edge { source, target, .. }| (*source, *target)).collect::<BTreeSet<_>>()
        };
        // The other documents are not stored yet.
        assert_eq!(edges(&[1], 0.5, Filter::default()).await, [].into());
        let pots = about("pots", "# Pots\n\nAny.\n\n# Iron pots\n\nHeavy.", json!({ "draft": true }));
        store.save(&space, &pots).await.expect("saved");
        store.save(&space, &document("cups", "# Cups\n\nSmall.")).await.expect("saved");
        // 2 links to a section that does not exist.
        let all = [(1, 4), (1, 5), (4, 1), (5, 1)];
        assert_eq!(edges(&[1], 0.5, Filter::default()).await, all.into());
        assert_eq!(edges(&[5], 0.5, Filter::default()).await, [(1, 4), (1, 5), (5, 1)].into());
        assert_eq!(edges(&[1], 0.9, Filter::default()).await, [].into());
        assert_eq!(edges(&[2], 0.5, Filter::default()).await, [(2, 3), (3, 2)].into());
        assert_eq!(edges(&[1], 0.5, Filter::ne("draft", true)).await, [(1, 5), (5, 1)].into());
        // The links of a chunk that stays can change.
        tea.chunks[0].links.clear();
        store.save(&space, &tea).await.expect("saved");
        assert_eq!(edges(&[1, 2], 0.5, Filter::default()).await, [(2, 3), (3, 2)].into());
    });
}

/// R75: the neighbours of a passage are in its section.
#[test]
fn neighbours_are_in_the_section() {
    run(async {
        let (store, space) = (MemoryStore::new(), space(""));
        let sentence = "A sentence whose length is more than half of a chunk.\n\n";
        let long = document("long", &format!("# A\n\n{}# B\n\n{sentence}", sentence.repeat(4)));
        assert_eq!(long.chunks.len(), 5);
        store.save(&space, &long).await.expect("saved");
        let neighbours = async |ids: &[i64], distance, filter: Filter| {
            let found = store.neighbours(&space, ids, distance, &filter).await.expect("neighbours");
            found.into_iter().map(|passage| passage.id).collect::<Vec<_>>()
        };
        assert_eq!(neighbours(&[2], 1, Filter::default()).await, [1, 3]);
        assert_eq!(neighbours(&[4, 1, 5], 2, Filter::default()).await, [2, 3]);
        assert_eq!(neighbours(&[2], 1, Filter::eq("draft", true)).await, [0; 0]);
        assert_eq!(neighbours(&[], 1, Filter::default()).await, [0; 0]);
    });
}

#[test]
fn a_store_is_created_with_valid_documents() {
    let documents = [document("pots", "# Pots\n\nWarm the pot."), document("keys", "# Keys\n\nRotate the key.")];
    let store = MemoryStore::of(&space(""), &documents).expect("valid documents");
    assert_eq!(run(found(&store, &space(""), "warm pots", Filter::default())), ["pots#0"]);
    let refused = MemoryStore::of(&space(""), &[document("", "# Pots")]).expect_err("a name is required");
    assert_eq!(refused.kind, StoreFailure::Document);
}
