//! The policy: Markdown files in the Worker, a tool that searches them, and a tool that asks another MCP server about them.

use edge_mcp::client::McpClient;
use edge_mcp::rag::{ChunkOptions, Document, MemoryStore, Retriever, Search, SearchTool, Space, chunks};
use edge_mcp::{BuildError, ConfigError, Context, HandlerError, RequestInfo, ResultExt, Tool, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// The name of the tool that searches.
pub const SEARCH: &str = "search-policy";
/// The name of the other MCP server in this program.
pub const ASSISTANT: &str = "assistant";
/// The name of the index that has all files.
const INDEX: &str = "policy";

/// The files of the folder `policy`. The compiler puts them into the Worker.
pub const FILES: [(&str, &str); 5] = [
    ("deadlines", include_str!("../policy/deadlines.md")),
    ("equipment", include_str!("../policy/equipment.md")),
    ("meals", include_str!("../policy/meals.md")),
    ("receipts", include_str!("../policy/receipts.md")),
    ("travel", include_str!("../policy/travel.md")),
];

/// Creates the store with the passages of all files, once for all requests of an isolate.
pub fn store() -> Result<MemoryStore, ConfigError> {
    let space = Space { index: INDEX.into(), ..Space::default() };
    let documents = FILES.map(|(name, text)| {
        let chunks = chunks(text, &ChunkOptions::new());
        Document { name: name.to_owned(), chunks, ..Document::default() }
    });
    MemoryStore::of(&space, &documents).map_err(|error| ConfigError::new("the policy", error.cause))
}

pub fn search_policy(request: &RequestInfo) -> Result<Tool, BuildError> {
    let search = SearchTool::new(Retriever::new(INDEX, request.state::<MemoryStore>()?))
        .name(SEARCH)
        .description("Finds the rules for expenses that answer a question.");
    Ok(search.tool().title("Search the policy"))
}

#[derive(Deserialize, JsonSchema)]
struct PolicyQuestion {
    /// A question about the policy, such as: Who pays for a desk at home?
    #[schemars(length(min = 1, max = 500))]
    question: String,
}

pub fn policy_answer() -> Tool {
    let description = "Lets an assistant answer a question about the rules for expenses.";
    Tool::new("policy-answer", description, answer).title("Ask about the policy").read_only().open_world()
}

async fn answer(PolicyQuestion { question }: PolicyQuestion, cx: Context) -> Result<ToolResult, HandlerError> {
    let policy = Retriever::new(INDEX, cx.state::<MemoryStore>()?);
    let found = policy.retrieve(Search::new(&question).top_k(3), &cx).await?;
    let rules: Vec<_> = found.passages.iter().map(|found| found.passage.text.as_str()).collect();
    if rules.is_empty() {
        return Err(HandlerError::new("The policy says nothing about this. Ask in other words."));
    }
    let message = format!("{question}\n\nAnswer from these rules:\n\n{}", rules.join("\n\n"));
    let assistant = cx.state::<McpClient>()?.connect(&cx).server(ASSISTANT)?;
    // `echo` of server-everything returns the message. A real assistant has a tool that answers it.
    let answer = assistant.call("echo", json!({ "message": message })).idempotent().await;
    let answer = answer.message("The assistant is not available. Read the rules with search-policy instead.")?;
    Ok(answer.into_tool_result())
}
