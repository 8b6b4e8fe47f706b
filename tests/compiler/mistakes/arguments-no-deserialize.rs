//! Arguments without `Deserialize`.
//!
//! error: `…` cannot be the arguments of a handler
//! label: the arguments must implement `Deserialize` and own their data
//! note: add `#[derive(serde::Deserialize, schemars::JsonSchema)]` to the type of the arguments

use edge_mcp::Tool;

#[derive(schemars::JsonSchema)]
struct Order {
    article: String,
}

async fn order(order: Order) -> String {
    format!("Ordered {}.", order.article)
}

fn tool() -> Tool {
    Tool::new("order", "Orders an article.", order)
}
