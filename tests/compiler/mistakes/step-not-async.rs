//! A step whose closure is not async.
//!
//! error: `…` is not a future

use edge_mcp::{Context, HandlerError};

async fn buy(cx: Context) -> Result<String, HandlerError> {
    cx.step("charge", &1, || Ok("receipt".to_owned())).await
}
