//! A step whose input does not implement `Serialize`.
//!
//! error: the trait bound `…: serde::Serialize` is not satisfied
//! note: for local types consider adding `#[derive(serde::Serialize)]` to your `Order` type

use edge_mcp::{Context, HandlerError};

struct Order {
    article: String,
}

async fn buy(order: Order, cx: Context) -> Result<String, HandlerError> {
    cx.step("charge", &order, async || Ok(order.article.clone())).await
}
