//! A closure that uses `?` and does not name the error type.
//!
//! error: type annotations needed

use edge_mcp::Tool;

fn tool() -> Tool {
    Tool::new("parse", "Parses a number.", || async {
        let number: u32 = "7".parse()?;
        Ok(number.to_string())
    })
}
