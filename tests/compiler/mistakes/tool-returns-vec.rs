//! A tool that returns a list without `Json`.
//!
//! error: a tool cannot return `…`
//! label: the handler must return text, `Json<T>`, `Content`, `ToolResult`, `()` or a `Result` of one of them
//! note: wrap a struct, a number or a list in `Json`: `Json(value)`; its type must implement `Serialize` and `JsonSchema`

use edge_mcp::Tool;

async fn names() -> Vec<String> {
    vec!["lamp".into()]
}

fn tool() -> Tool {
    Tool::new("names", "Lists the names of articles.", names)
}
