//! A handler that takes the context by reference.
//!
//! error: `…` has no JSON Schema
//! note: a handler takes its arguments and its `Context` by value

use edge_mcp::{Context, Tool};

async fn when(cx: &Context) -> String {
    cx.now_ms().to_string()
}

fn tool() -> Tool {
    Tool::new("when", "Says what time it is.", when)
}
