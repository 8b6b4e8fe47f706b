//! A handler that takes the context after its arguments, by reference.
//!
//! error: a handler cannot have the parameters `…`
//! note: take `Context` by value, not `&Context`

use edge_mcp::{Context, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Order {
    article: String,
}

async fn order(order: Order, cx: &Context) -> String {
    format!("Ordered {} at {}.", order.article, cx.now_ms())
}

fn tool() -> Tool {
    Tool::new("order", "Orders an article.", order)
}
