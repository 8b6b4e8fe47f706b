//! A handler whose two arguments are not in a struct.
//!
//! error: a handler cannot have the parameters `…`
//! label: expected an async function of (), (Arguments), (Context) or (Arguments, Context)
//! note: put all arguments into one struct with `#[derive(serde::Deserialize, schemars::JsonSchema)]`

use edge_mcp::Tool;

async fn add(a: f64, b: f64) -> String {
    (a + b).to_string()
}

fn tool() -> Tool {
    Tool::new("add", "Adds two numbers.", add)
}
