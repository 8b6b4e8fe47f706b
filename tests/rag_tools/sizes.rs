//! The sizes of the definitions of the tools.

use edge_mcp::protocol::Revision;
use edge_mcp::rag::{Fields, GraphOptions, SearchTool};
use edge_mcp::testing::{self, Client};
use serde_json::Value;

use crate::server::{docs, store};

/// The most bytes of the definition of a tool that searches, with three fields of different types.
const LIMIT: usize = 2250;
/// The most bytes without the schema of the result.
const LIMIT_OF_INPUT: usize = 1675;

/// A model reads the definition of each tool in each conversation.
#[test]
fn a_definition_is_small() {
    let store = store();
    let fields = || {
        Fields::new()
            .text("category", "Subject of the document")
            .number("version", "Release, such as 2.1")
            .boolean("draft", "Whether the document is unfinished")
    };
    let endpoint = testing::endpoint(move |_| {
        let search = SearchTool::new(docs(&store)).name("search-passages").filter(fields()).tool();
        let docs = docs(&store).graph(GraphOptions::default());
        let related = SearchTool::new(docs).name("related-passages").filter(fields()).tool();
        edge_mcp::McpServer::builder("docs", "1.0.0").tool(search).tool(related).build()
    });
    for revision in [Revision::V2026_07_28, Revision::V2025_03_26] {
        let list = testing::run(Client::new(&endpoint).revision(revision).list("tools"));
        for tool in list.result()["tools"].as_array().expect("tools") {
            let mut input = tool.clone();
            input.as_object_mut().and_then(|tool| tool.remove("outputSchema")).expect("a schema of the result");
            let [all, input] = [tool, &input].map(|value: &Value| value.to_string().len());
            println!("{revision:?}: {} has {all} bytes, {input} without the schema of the result", tool["name"]);
            assert!(
                all <= LIMIT && input <= LIMIT_OF_INPUT,
                "{}: {all} bytes, {input} without the schema of the result",
                tool["name"]
            );
        }
    }
}
