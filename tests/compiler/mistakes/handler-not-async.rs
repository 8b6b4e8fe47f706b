//! A handler that is not async.
//!
//! error: `…` is not a handler
//! label: expected an async function of (), (Arguments), (Context) or (Arguments, Context)
//! note: write `async fn`, or a closure such as `|arguments: Arguments| async move { … }`

use edge_mcp::Tool;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Order {
    article: String,
}

fn order(order: Order) -> String {
    format!("Ordered {}.", order.article)
}

fn tool() -> Tool {
    Tool::new("order", "Orders an article.", order)
}
