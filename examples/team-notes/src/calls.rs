//! The number of calls of each caller, in KV.
//!
//! KV can lose one of two updates at the same time, so the number is an estimate. For exact numbers, use D1.

use std::borrow::Cow;

use edge_mcp::call::ToolEvent;
use edge_mcp::storage::KvStore;
use edge_mcp::{Context, HandlerError};

/// Counts a call that ended. This function is a hook of all tools.
pub async fn count(_: Cow<'static, str>, event: ToolEvent, cx: Context) -> Result<(), HandlerError> {
    if let ToolEvent::Output(_) | ToolEvent::Error(_) = event {
        let calls = calls(&cx).await?;
        cx.state::<KvStore>()?.put_json(&key(&cx)?, &(calls + 1)).await?;
    }
    Ok(())
}

pub async fn read(cx: Context) -> Result<String, HandlerError> {
    Ok(format!("Your calls: {}.", calls(&cx).await?))
}

async fn calls(cx: &Context) -> Result<u64, HandlerError> {
    Ok(cx.state::<KvStore>()?.get_json(&key(cx)?).await?.unwrap_or(0))
}

fn key(cx: &Context) -> Result<String, HandlerError> {
    Ok(format!("calls/{}", cx.caller()?.subject))
}
