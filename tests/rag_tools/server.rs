//! The documents and the server of the tests.

use std::rc::Rc;

use edge_mcp::rag::{
    ChunkOptions, Document, Fields, GraphOptions, MemoryStore, Retriever, SaveStore, SearchScope, SearchTool, Space,
    add_links, chunks, resolve,
};
use edge_mcp::testing::{self, Answer, call};
use edge_mcp::{Endpoint, McpServer, Tool};
use serde_json::{Value, json};

/// The documents: the name, the category, the version and the text.
const DOCUMENTS: [(&str, &str, f64, &str); 4] = [
    (
        "tea",
        "drinks",
        2.0,
        "# Tea\n\nTea needs warm water.\n\n## Steeping\n\nSteep green tea for two minutes. See [pots](pots).\n",
    ),
    ("pots", "things", 1.0, "# Pots\n\nAn iron pot keeps water warm.\n\n## Cleaning\n\nRinse it without soap.\n"),
    ("coffee", "drinks", 3.0, "# Coffee\n\nGrind the beans shortly before you brew them.\n"),
    ("keys", "security", 1.0, "# Keys\n\nRotate the key each month.\n"),
];

pub(crate) fn space(name: &str) -> Space {
    Space { index: "docs".into(), name: name.into() }
}

pub(crate) fn document(name: &str, text: &str, metadata: &Value) -> Document {
    let metadata = metadata.as_object().cloned().expect("an object");
    Document { name: name.into(), metadata, chunks: chunks(text, &ChunkOptions::new()) }
}

/// Stores a document in the empty space.
pub(crate) fn save(store: &MemoryStore, document: &Document) {
    testing::run(store.save(&space(""), document)).expect("saved");
}

/// Returns a store with the documents.
pub(crate) fn store() -> Rc<MemoryStore> {
    let store = MemoryStore::new();
    for (name, category, version, text) in DOCUMENTS {
        let uri = format!("kb://documents/{name}");
        let metadata = json!({ "title": name, "category": category, "version": version, "uri": uri });
        let mut document = document(name, text, &metadata);
        add_links(&mut document.chunks, text, |target| resolve(name, target));
        save(&store, &document);
    }
    Rc::new(store)
}

pub(crate) fn fields() -> Fields {
    Fields::new().text("category", "Subject of the document").number("version", "Release, such as 2.1")
}

pub(crate) fn docs(store: &Rc<MemoryStore>) -> Retriever {
    Retriever::new("docs", store.clone())
}

/// Returns the tool `search`.
pub(crate) fn tool(retriever: Retriever) -> SearchTool {
    SearchTool::new(retriever).name("search").filter(fields())
}

pub(crate) fn search(store: &Rc<MemoryStore>) -> SearchTool {
    tool(docs(store))
}

pub(crate) fn related(store: &Rc<MemoryStore>) -> SearchTool {
    tool(docs(store).graph(GraphOptions::default())).name("related")
}

/// Returns an endpoint with one tool. `scope` has the settings of each request.
pub(crate) fn endpoint_with(scope: Option<SearchScope>, tool: impl Fn() -> Tool + 'static) -> Endpoint {
    testing::endpoint(move |request| {
        if let Some(scope) = &scope {
            request.extend(scope.clone());
        }
        McpServer::builder("docs", "1.0.0").tool(tool()).build()
    })
}

/// Returns an endpoint with both tools.
pub(crate) fn endpoint() -> Endpoint {
    let store = store();
    testing::endpoint(move |_| {
        let (search, related) = (search(&store).tool(), related(&store).tool());
        McpServer::builder("docs", "1.0.0").tool(search).tool(related).build()
    })
}

/// Calls the tool `search` of an endpoint.
pub(crate) fn searched(endpoint: &Endpoint, arguments: Value) -> Answer {
    testing::run(call(endpoint, "search", arguments))
}

/// Returns the ids of the sources of an answer.
pub(crate) fn ids(answer: &Answer) -> Vec<&str> {
    assert!(!answer.is_error(), "{}", answer.text());
    let sources = answer.structured()["sources"].as_array().expect("sources");
    sources.iter().map(|source| source["id"].as_str().expect("an id")).collect()
}
