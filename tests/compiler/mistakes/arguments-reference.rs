//! A handler that takes the arguments by reference.
//!
//! error: `…` cannot be the arguments of a handler
//! label: the arguments must implement `Deserialize` and own their data
//! note: add `#[derive(serde::Deserialize, schemars::JsonSchema)]` to the type of the arguments
//! note: a handler takes its arguments and its `Context` by value

use edge_mcp::Tool;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Order {
    article: String,
}

async fn order(order: &Order) -> String {
    format!("Ordered {}.", order.article)
}

fn tool() -> Tool {
    Tool::new("order", "Orders an article.", order)
}
