//! A hook that returns nothing.
//!
//! code: E0271

use edge_mcp::call::ToolEvent;
use edge_mcp::{Context, Tool};

fn tool() -> Tool {
    Tool::new("greet", "Says hello.", || async { "Hello" }).hook(|event: ToolEvent, _: Context| async move {
        println!("{event:?}");
    })
}
