//! Arguments with an attribute of schemars, but without `JsonSchema`.
//!
//! error: cannot find attribute `schemars` in this scope

use edge_mcp::Tool;

#[derive(serde::Deserialize)]
struct Order {
    #[schemars(length(min = 1))]
    article: String,
}

async fn order(order: Order) -> String {
    format!("Ordered {}.", order.article)
}

fn tool() -> Tool {
    Tool::new("order", "Orders an article.", order)
}
