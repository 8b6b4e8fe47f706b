//! A tool that returns an `Option`.
//!
//! error: a tool cannot return `…`
//! label: the handler must return text, `Json<T>`, `Content`, `ToolResult`, `()` or a `Result` of one of them
//! note: return a `Result` instead of an `Option`: `value.ok_or_else(|| HandlerError::not_found("…"))`

use edge_mcp::Tool;

async fn find() -> Option<String> {
    None
}

fn tool() -> Tool {
    Tool::new("find", "Finds an article.", find)
}
