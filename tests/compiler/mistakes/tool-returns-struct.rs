//! A tool that returns a struct without `Json`.
//!
//! error: a tool cannot return `…`
//! label: the handler must return text, `Json<T>`, `Content`, `ToolResult`, `()` or a `Result` of one of them
//! note: wrap a struct, a number or a list in `Json`: `Json(value)`; its type must implement `Serialize` and `JsonSchema`

use edge_mcp::{HandlerError, Tool};

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Article {
    name: String,
}

async fn find() -> Result<Article, HandlerError> {
    Ok(Article { name: "lamp".into() })
}

fn tool() -> Tool {
    Tool::new("find", "Finds an article.", find)
}
