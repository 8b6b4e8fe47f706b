//! A tool that returns a `serde_json::Value` without `Json`.
//!
//! error: a tool cannot return `…`
//! label: the handler must return text, `Json<T>`, `Content`, `ToolResult`, `()` or a `Result` of one of them
//! note: wrap a struct, a number or a list in `Json`: `Json(value)`; its type must implement `Serialize` and `JsonSchema`

use edge_mcp::Tool;

async fn names() -> serde_json::Value {
    serde_json::json!({ "names": ["lamp"] })
}

fn tool() -> Tool {
    Tool::new("names", "Lists the names of articles.", names)
}
