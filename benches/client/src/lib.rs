//! A server for `scripts/bench`, which measures the MCP client. Its tool `relay` calls `add` of the server at `PEER`, and its tool `add`
//! returns the same result without this call. Both are read-only, so the server does not log the calls.

use std::error::Error;

use edge_mcp::client::{McpClient, Upstream};
use edge_mcp::{BuildError, Context, Endpoint, HandlerError, McpServer, Tool, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use worker::Env;

edge_mcp::worker::entry!(endpoint);

fn endpoint(env: &Env) -> Result<Endpoint, Box<dyn Error>> {
    let mut client = McpClient::builder("bench", "1.0.0");
    // The warm-up may run without variables.
    if let Ok(url) = env.var("PEER") {
        client = client.server("peer", Upstream::at(&url.to_string())?);
    }
    Ok(Endpoint::of(server()?).state(client.build()?).without_rate_limit().open_to_the_public())
}

fn server() -> Result<McpServer, BuildError> {
    McpServer::builder("bench", "1.0.0")
        .tool(Tool::new("relay", "Adds two numbers with another server.", relay).read_only())
        .tool(Tool::new("add", "Adds two numbers.", async |Addition { a, b }| (a + b).to_string()).read_only())
        .build()
}

#[derive(Deserialize, JsonSchema, Serialize)]
struct Addition {
    a: f64,
    b: f64,
}

async fn relay(addition: Addition, cx: Context) -> Result<ToolResult, HandlerError> {
    let peer = cx.state::<McpClient>()?.connect(&cx).server("peer")?;
    Ok(peer.call("add", &addition).await?.into_tool_result())
}
