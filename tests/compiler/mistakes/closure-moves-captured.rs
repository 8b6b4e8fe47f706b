//! A closure that moves a captured value out of itself.
//!
//! code: E0525

use edge_mcp::Tool;

fn tool() -> Tool {
    let name = String::from("Ada");
    Tool::new("greet", "Says hello.", move || async move { format!("Hello, {name}") })
}
