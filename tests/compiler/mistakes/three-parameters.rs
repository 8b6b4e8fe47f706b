//! A handler with a context, whose two arguments are not in a struct.
//!
//! error: `…` is not a handler
//! label: expected an async function of (), (Arguments), (Context) or (Arguments, Context)
//! note: put all arguments into one struct with `#[derive(serde::Deserialize, schemars::JsonSchema)]`

use edge_mcp::{Context, Tool};

async fn add(a: f64, b: f64, _cx: Context) -> String {
    (a + b).to_string()
}

fn tool() -> Tool {
    Tool::new("add", "Adds two numbers.", add)
}
