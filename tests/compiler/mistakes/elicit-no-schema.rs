//! An elicitation whose form has no `JsonSchema`.
//!
//! error: `…` has no JSON Schema
//! note: add `#[derive(schemars::JsonSchema)]` to the type, or enable the feature of schemars for its crate

use edge_mcp::{Context, HandlerError};

#[derive(serde::Deserialize)]
struct Address {
    city: String,
}

async fn buy(cx: Context) -> Result<String, HandlerError> {
    let address = cx.elicit::<Address>("address", "Where to?").await?.accepted();
    address.map(|address| address.city).ok_or_else(|| HandlerError::new("Nothing was sent."))
}
