//! A hook that returns nothing.
//!
//! code: E0271

use edge_mcp::{Context, Tool, ToolEvent};

fn tool() -> Tool {
    Tool::new("greet", "Says hello.", || async { "Hello" }).hook(|event: ToolEvent, _: Context| async move {
        println!("{event:?}");
    })
}
