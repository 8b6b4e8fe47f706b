//! A handler that takes the context before the arguments.
//!
//! error: the arguments of a handler come before its `Context`
//! label: expected an async function of (Order, Context)

use edge_mcp::{Context, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Order {
    article: String,
}

async fn order(cx: Context, order: Order) -> String {
    format!("Ordered {} at {}.", order.article, cx.now_ms())
}

fn tool() -> Tool {
    Tool::new("order", "Orders an article.", order)
}
