//! A closure that borrows a local variable.
//!
//! code: E0373

use edge_mcp::Tool;

fn tool() -> Tool {
    let name = String::from("Ada");
    Tool::new("greet", "Says hello.", || async { format!("Hello, {name}") })
}
