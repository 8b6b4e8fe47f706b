//! Arguments with a borrowed field.
//!
//! error: implementation of `…Deserialize` is not general enough

use edge_mcp::Tool;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Order<'a> {
    article: &'a str,
}

async fn order(order: Order<'_>) -> String {
    format!("Ordered {}.", order.article)
}

fn tool() -> Tool {
    Tool::new("order", "Orders an article.", order)
}
