//! A result in `Json` without `Serialize`.
//!
//! error: the trait bound `…: serde::Serialize` is not satisfied
//! note: for local types consider adding `#[derive(serde::Serialize)]` to your `Article` type

use edge_mcp::{Json, Tool};

#[derive(schemars::JsonSchema)]
struct Article {
    name: String,
}

async fn find() -> Json<Article> {
    Json(Article { name: "lamp".into() })
}

fn tool() -> Tool {
    Tool::new("find", "Finds an article.", find)
}
