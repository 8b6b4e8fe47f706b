//! Compares the answers to a caller while documents change that the caller cannot see: those of another space, and those that the filter
//! of the program hides. The answers must stay equal to the last byte, so a caller cannot learn anything about these documents.

use std::rc::Rc;

use edge_mcp::rag::{
    ChunkOptions, Document, Filter, GraphOptions, Link, Retriever, SaveStore, Search, SearchScope, SearchTool, Space,
    chunks,
};
use edge_mcp::testing::{self, Client};
use edge_mcp::{Endpoint, McpServer};
use serde_json::{Map, json};

use crate::random::Random;

/// Words of the documents. Some of them differ by one letter.
const WORDS: &[&str] = &[
    "northwind",
    "northwynd",
    "northwand",
    "contract",
    "contrakt",
    "harbor",
    "harbour",
    "lantern",
    "lamtern",
    "walnut",
    "tulips",
    "zebra",
];

fn space(name: &str) -> Space {
    Space { index: "docs".into(), name: name.into() }
}

/// Returns a document. The links of its last passage are `document` or `document#section`.
fn document(name: &str, text: &str, links: &[&str]) -> Document {
    let mut chunks = chunks(text, &ChunkOptions::new());
    let link = |link: &&str| {
        let (document, section) = link.split_once('#').unwrap_or((link, ""));
        Link { document: document.to_owned(), section: Some(section.to_owned()) }
    };
    if let Some(last) = chunks.last_mut() {
        last.links = links.iter().map(link).collect();
    }
    Document { name: name.into(), metadata: Map::new(), chunks }
}

fn hidden(document: &Document) -> Document {
    Document { metadata: Map::from_iter([("hidden".to_owned(), json!(true))]), ..document.clone() }
}

/// Returns the filter of the program.
fn filter() -> Filter {
    Filter::ne("hidden", true)
}

/// Returns an endpoint whose tools search the space `own`.
fn endpoint<S: SaveStore + 'static>(store: &Rc<S>) -> Endpoint {
    let store = store.clone();
    testing::endpoint(move |request| {
        request.extend(SearchScope::new().space("own"));
        let docs = Retriever::new("docs", store.clone());
        let search = SearchTool::new(docs.clone().within(filter()).context(1)).name("search");
        let all = SearchTool::new(docs.clone().per_document(1)).name("all");
        let related = SearchTool::new(docs.within(filter()).graph(GraphOptions::default())).name("related");
        McpServer::builder("docs", "1.0.0").tool(search.tool()).tool(all.tool()).tool(related.tool()).build()
    })
}

/// Returns everything that a caller and a handler get for some questions. The tool `all` does not apply the filter.
async fn answers<S: SaveStore + 'static>(store: &Rc<S>, tools: &[&str], questions: &[&str]) -> String {
    let endpoint = endpoint(store);
    let mut answers = String::new();
    for question in questions {
        for tool in tools {
            let answer = Client::new(&endpoint).call(tool, json!({ "queryText": question })).await;
            // The digits of the tags are random.
            let mut text = answer.json()["result"].to_string();
            while let Some(at) = text.find("passage-") {
                text.replace_range(at..at + "passage-00000000".len(), "passage");
            }
            answers.extend([question, ", ", tool, ": ", &text, "\n"]);
        }
        let search = Search { space: space("own"), ..Search::new(*question).top_k(2).within(filter()) };
        let found = store.search(search).await.expect("a search").passages;
        answers.extend(found.iter().map(|found| format!("{}#{} ", found.passage.document, found.passage.ordinal)));
    }
    answers
}

/// Saves `own`, and checks that the answers do not change while each list of other documents is stored. Returns the answers.
async fn unchanged<S: SaveStore + 'static>(
    store: &Rc<S>,
    own: &[Document],
    questions: &[&str],
    others: impl IntoIterator<Item = Vec<Document>>,
) -> String {
    for document in own {
        store.save(&space("own"), document).await.expect("saved");
    }
    let tools = ["search", "related", "all"];
    let (filtered, all) = (answers(store, &tools[..2], questions).await, answers(store, &tools, questions).await);
    for others in others {
        for other in &others {
            store.save(&space("other"), other).await.expect("saved");
        }
        assert_eq!(answers(store, &tools, questions).await, all, "another space has {others:?}");
        for other in &others {
            store.save(&space("own"), &hidden(other)).await.expect("saved");
        }
        assert_eq!(answers(store, &tools[..2], questions).await, filtered, "the filter hides {others:?}");
        for other in &others {
            store.remove(&space("own"), &other.name).await.expect("removed");
        }
        // The documents of the other space stay for the next comparison.
    }
    for document in own {
        store.remove(&space("own"), &document.name).await.expect("removed");
    }
    filtered
}

/// R91: the correction of a word does not tell whether others use it.
pub(crate) async fn corrections<S: SaveStore + 'static>(store: &Rc<S>) {
    let own = [document("d0", "# Bait\n\nnorthwynd here", &[]), document("d1", "# Filler\n\nother text entirely", &[])];
    let texts = ["northwind", "northwand northwand", "northwend", "nothing", "northwynd"];
    let others = texts.map(|word| vec![document("d3", &format!("# Plan\n\nWe buy {word} next month."), &[])]);
    let answers = unchanged(store, &own, &["northwind", "northwinds contract"], others).await;
    assert!(answers.contains("northwynd here"), "the question is corrected by a word of the own documents: {answers}");
}

/// R91: the scores of own passages do not tell how many passages of others contain a word.
pub(crate) async fn scores<S: SaveStore + 'static>(store: &Rc<S>) {
    let own = [document("d0", "# Bait\n\nnorthwind and something", &[]), document("d1", "# Other\n\nzebra text", &[])];
    let others = [1, 2, 5, 9].map(|count| {
        (3..12)
            .map(|nth| {
                let text = if nth - 3 < count { "northwind contract" } else { "other contract" };
                document(&format!("d{nth}"), &format!("# V\n\n{text}"), &[])
            })
            .collect()
    });
    let answers = unchanged(store, &own, &["northwind zebra contract"], others).await;
    assert!(answers.contains("\"score\":0."), "{answers}");
}

/// R91: the order of own passages does not tell how many passages of others contain a word, or how long these passages are.
pub(crate) async fn order<S: SaveStore + 'static>(store: &Rc<S>) {
    let filler = "plain words ".repeat(40);
    let own = [
        document("d0", "# One\n\nlantern and more", &[]),
        document("d1", "# Two\n\nharbor and more", &[]),
        document("d2", &format!("# Three\n\nlantern harbor {filler}"), &[]),
    ];
    let texts = [("lantern", 1), ("harbor", 1), ("lantern harbor", 1), ("harbor", 200), ("unrelated", 500)];
    let others = texts.map(|(words, times)| {
        (3..12)
            .map(|nth| document(&format!("d{nth}"), &format!("# V\n\n{}", format!("{words} ").repeat(times)), &[]))
            .collect()
    });
    let answers = unchanged(store, &own, &["lantern harbor", "harbor lantern words"], others).await;
    assert!(answers.contains("d0#1") && answers.contains("d1#1"), "{answers}");
}

/// R85, R91: connected passages do not tell the links and the sections of others.
pub(crate) async fn connections<S: SaveStore + 'static>(store: &Rc<S>) {
    let own = [
        document("d0", "# Tulips\n\nThe tulips.\n\n## More\n\nText about roses.", &["d1", "d1#a", "d3", "d4#a"]),
        document("d1", "# Walnut\n\nThe walnut.\n\n# Shell\n\nIt is hard.", &["d5", "d0#more"]),
        document("d2", "# Lantern\n\nThe lantern.", &["d3"]),
    ];
    let others = [
        vec![document("d3", "# Hub\n\nThe tulips and the lantern.", &["d0", "d1", "d2", "d0#more", "d1#shell"])],
        vec![
            document("d3", "# Tulips\n\nThe tulips.", &["d4"]),
            document("d4", "# Walnut\n\nText.", &["d0", "d2", "d3"]),
        ],
        (3..12)
            .map(|nth| document(&format!("d{nth}"), "# A\n\nText.\n\n# B\n\nText.", &["d0", "d1#walnut", "d2"]))
            .collect(),
    ];
    let answers = unchanged(store, &own, &["tulips", "walnut lantern"], others).await;
    assert!(
        answers.contains("\"retrieval\":\"graph\"") && answers.contains("roses") && answers.contains("hard"),
        "{answers}"
    );
}

/// R91: passages that the filter hides, although it shows their documents, have no effect.
pub(crate) async fn hidden_passages<S: SaveStore + 'static>(store: &Rc<S>) {
    let own = [
        document("d0", "# Tulips\n\nThe tulips.\n\n## More\n\nText about roses.", &["d1#shell", "d1#secret"]),
        document("d1", "# Walnut\n\nThe walnut.\n\n# Shell\n\nIt is hard.", &["d0#more"]),
        document("d2", "# Lantern\n\nThe lantern and the tulips.", &["d0#secret"]),
    ];
    let hidden = |text: &str, links: &[&str]| {
        let mut chunks = document("", text, links).chunks;
        for chunk in &mut chunks {
            chunk.metadata = Map::from_iter([("hidden".to_owned(), json!(true))]);
        }
        chunks
    };
    for document in &own {
        store.save(&space("own"), document).await.expect("saved");
    }
    let questions = ["tulips", "walnut lantern", "wallnut", "northwind"];
    let answers_before = answers(store, &["search", "related"], &questions).await;
    assert!(answers_before.contains("\"retrieval\":\"graph\"") && answers_before.contains("hard"), "{answers_before}");
    for (at, text, links) in [
        (0, "# Secret\n\nNorthwind and walnut and tulips, tulips.", &["d1", "d2"][..]),
        (1, "# Shell\n\nThe lantern.\n\n# Secret\n\nWallnut.", &["d0#more", "d2"]),
        (2, "# Lantern\n\nThe tulips of northwind.", &["d0", "d1#shell"]),
    ] {
        let mut changed = own[at].clone();
        changed.chunks.extend(hidden(text, links));
        store.save(&space("own"), &changed).await.expect("saved");
        assert_eq!(answers(store, &["search", "related"], &questions).await, answers_before, "hidden: {text}");
    }
    for document in own {
        store.remove(&space("own"), &document.name).await.expect("removed");
    }
}

/// R91: random documents of others have no effect.
pub(crate) async fn random<S: SaveStore + 'static>(store: &Rc<S>, random: &mut Random, rounds: usize) {
    let text = |random: &mut Random| {
        let mut text = String::new();
        for _ in 0..=random.below(3) {
            let words: Vec<_> = (0..=random.below(12)).map(|_| random.one(WORDS)).collect();
            text.extend(["# ", random.one(WORDS), "\n\n", &words.join(" "), "\n\n"]);
        }
        text
    };
    let some = |random: &mut Random, names: std::ops::Range<usize>| -> Vec<Document> {
        names
            .map(|nth| {
                let links = [0; 3].map(|_| format!("d{}", random.below(12)));
                document(&format!("d{nth}"), &text(random), &links.each_ref().map(String::as_str))
            })
            .collect()
    };
    let own = some(random, 0..3);
    let others: Vec<_> = (0..rounds).map(|_| some(random, 3..12)).collect();
    let mut questions: Vec<String> = WORDS.iter().map(|word| (*word).to_owned()).collect();
    questions.extend((0..4).map(|_| [0; 3].map(|_| random.one(WORDS)).join(" ")));
    unchanged(store, &own, &questions.iter().map(String::as_str).collect::<Vec<_>>(), others).await;
}
