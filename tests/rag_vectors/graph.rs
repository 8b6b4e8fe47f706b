//! The graph tool over all stores: the same documents give the same answer.

use std::rc::Rc;

use edge_mcp::rag::{
    Chunk, Document, Fields, GraphOptions, Indexer, Link, MemoryStore, Retriever, SearchScope, SearchTool, Space,
    VectorStore,
};
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Endpoint, McpServer};
use edge_mcp_test_support::random::Random;
use serde_json::{Map, Value, json};

use crate::embedder::Synonyms;
use crate::vector_index::prompt_service;
use crate::{database, sqlite};

const CORPORA: u64 = 80;
/// The number of corpora that share the stores. The last of them has more passages than a service or a scan of codes finds exactly.
const SHARED: u64 = 40;
const WORDS: &[&str] = &[
    "warm", "heat", "pot", "kettle", "car", "motor", "lemon", "violin", "walnut", "harbor", "tulip", "quartz", "robin",
    "bamboo", "candid", "pixel",
];

/// A store that is compared, and an endpoint with its graph tool.
struct Compared {
    store: Rc<dyn VectorStore>,
    endpoint: Endpoint,
}

impl Compared {
    fn new(store: Rc<dyn VectorStore>) -> Self {
        let of_server = store.clone();
        let endpoint = testing::endpoint(move |request| {
            let space = request.header("X-Space").unwrap_or_default();
            let index = space.clone();
            request.extend(SearchScope::new().space(space).retriever(move |docs| docs.index(index.clone())));
            let docs = Retriever::new("docs", of_server.clone()).embedder(Synonyms::default());
            let graph = docs.graph(GraphOptions { threshold: 0.6, ..GraphOptions::default() });
            let tool = SearchTool::new(graph).filter(Fields::new().text("kind", "The kind").number("page", "The page"));
            McpServer::builder("docs", "1.0.0").tool(tool.name("related").tool()).build()
        });
        Self { store, endpoint }
    }

    /// Saves a document. Vectors of the space follow, if `is_embedded`.
    async fn save(&self, space: &Space, document: &Document, is_embedded: bool) {
        self.store.save(space, document).await.expect("saved");
        if is_embedded {
            let cx = testing::context(&TestHost::new());
            let indexer = Indexer::new(self.store.clone(), Synonyms::default());
            while indexer.embed(space, &cx).await.pending > 0 {}
        }
    }

    /// Returns the answer of the tool, without the random numbers in its text.
    async fn answer(&self, space: &Space, arguments: &Value) -> Value {
        let answer =
            Client::new(&self.endpoint).header("X-Space", &space.name).call("related", arguments.clone()).await;
        let mut answer = answer.structured().clone();
        answer["relevantContext"].take();
        answer
    }
}

fn document(name: String, random: &mut Random, others: usize) -> Document {
    let chunk = |random: &mut Random, page: usize| {
        let text = (0..=random.below(5)).map(|_| random.one(WORDS)).collect::<Vec<_>>().join(" ");
        let link = |random: &mut Random| Link {
            document: format!("d{}", random.below(others)),
            section: random.once_in(2).then(|| (*random.one(&["a", "b"])).to_owned()),
        };
        Chunk {
            heading: vec![random.one(&["A", "B"]).into()],
            range: 0..text.len(),
            text,
            metadata: if random.once_in(2) { Map::from_iter([("page".to_owned(), json!(page))]) } else { Map::new() },
            links: (0..random.below(3)).map(|_| link(random)).collect(),
        }
    };
    let chunks = (0..=random.below(3)).map(|page| chunk(random, page)).collect();
    Document { name, metadata: Map::from_iter([("kind".to_owned(), json!(random.one(&["x", "y"])))]), chunks }
}

/// R84, R85, R102: the answer has the same passages with the same scores in the same order, whatever the store is.
#[test]
fn the_graph_tool_gives_the_same_answer_over_all_stores() {
    let new_stores = || {
        let with_service = database::store_in(&database::empty()).vector_index(prompt_service());
        let stores: [Rc<dyn VectorStore>; 3] = [sqlite(), Rc::new(MemoryStore::new()), Rc::new(with_service)];
        stores.map(Compared::new)
    };
    let mut all_stores = new_stores();
    let (mut found, mut connected) = (0, 0);
    for seed in 0..CORPORA {
        let (mut random, is_large) = (Random::new(seed), seed % SHARED == SHARED - 1);
        if seed % SHARED == 0 {
            all_stores = new_stores();
        }
        let space = Space { index: format!("corpus-{seed}").into(), name: format!("corpus-{seed}") };
        // The store in memory and a service find the nearest vectors exactly, and codes do so only if there are few.
        let documents = if is_large { 11 } else { 3 + random.below(4) };
        testing::run(async {
            // Some documents are saved again with other passages, or before others have vectors.
            for nth in (0..documents).chain([random.below(documents)]) {
                let document = document(format!("d{nth}"), &mut random, documents);
                let is_embedded = random.once_in(5) || nth + 1 == documents;
                for compared in &all_stores {
                    compared.save(&space, &document, is_embedded).await;
                }
            }
            let filter = json!({ "$or": [{ "kind": "x" }, { "page": { "$gte": 1 } }] });
            let filter = if random.once_in(2) { filter } else { json!({}) };
            let question = format!("{} {}", random.one(WORDS), random.one(WORDS));
            let arguments = json!({ "queryText": question, "topK": 50, "filter": filter });
            let expected = all_stores[0].answer(&space, &arguments).await;
            for other in &all_stores[1..] {
                assert_eq!(other.answer(&space, &arguments).await, expected, "seed {seed}, {arguments}");
            }
            for source in expected["sources"].as_array().expect("sources") {
                found += 1;
                connected += usize::from(source["scores"]["graph"].as_f64().is_some_and(|graph| graph > 0.0));
            }
        });
    }
    assert!(connected * 4 > found && found > 600, "{connected} of {found} passages are connected");
}

/// R85: a passage is connected with a similar one of another document, without a link.
#[test]
fn similar_passages_are_connected_in_memory() {
    let memory = Compared::new(Rc::new(MemoryStore::new()));
    let space = Space { index: "tea".into(), name: "tea".to_owned() };
    let document = |name: &str, text: &str| Document {
        name: name.to_owned(),
        chunks: vec![Chunk { text: text.to_owned(), ..Chunk::default() }],
        ..Document::default()
    };
    testing::run(async {
        memory.save(&space, &document("tea", "warm pot"), false).await;
        memory.save(&space, &document("coffee", "heat kettle"), false).await;
        memory.save(&space, &document("car", "motor"), true).await;
        let answer = memory.answer(&space, &json!({ "queryText": "warm pot" })).await;
        let graph = |nth: usize| answer["sources"][nth]["scores"]["graph"].as_f64().expect("a score");
        assert_eq!(answer["sources"][1]["id"], "coffee#1", "{answer}");
        assert!(graph(1) > 0.1 && graph(2) == 0.0, "{answer}");
    });
}
