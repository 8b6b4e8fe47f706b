//! A result in `Json` without `JsonSchema`.
//!
//! error: `…` has no JSON Schema
//! note: add `#[derive(schemars::JsonSchema)]` to the type, or enable the feature of schemars for its crate

use edge_mcp::{Json, Tool};

#[derive(serde::Serialize)]
struct Article {
    name: String,
}

async fn find() -> Json<Article> {
    Json(Article { name: "lamp".into() })
}

fn tool() -> Tool {
    Tool::new("find", "Finds an article.", find)
}
