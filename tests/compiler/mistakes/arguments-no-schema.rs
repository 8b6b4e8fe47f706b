//! Arguments without `JsonSchema`.
//!
//! error: `…` has no JSON Schema
//! label: the type must implement `schemars::JsonSchema`
//! note: add `#[derive(schemars::JsonSchema)]` to the type, or enable the feature of schemars for its crate

use edge_mcp::Tool;

#[derive(serde::Deserialize)]
struct Order {
    article: String,
}

async fn order(order: Order) -> String {
    format!("Ordered {}.", order.article)
}

fn tool() -> Tool {
    Tool::new("order", "Orders an article.", order)
}
