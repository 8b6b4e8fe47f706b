//! A tool that returns a number without `Json`.
//!
//! error: a tool cannot return `…`
//! label: the handler must return text, `Json<T>`, `Content`, `ToolResult`, `()` or a `Result` of one of them
//! note: wrap a struct, a number or a list in `Json`: `Json(value)`; its type must implement `Serialize` and `JsonSchema`

use edge_mcp::Tool;

async fn answer() -> i32 {
    42
}

fn tool() -> Tool {
    Tool::new("answer", "Answers.", answer)
}
