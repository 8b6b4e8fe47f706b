//! A server for `scripts/bench`, which measures the MCP client and a gateway. Its tool `relay` calls `add` of the server at `PEER`, and its
//! tool `add` returns the same result without this call. With the variable `MOUNTS`, it is instead a gateway that mounts the server this
//! number of times. All tools are read-only, so the server does not log the calls.

use std::error::Error;

use edge_mcp::client::{McpClient, Upstream};
use edge_mcp::gateway::{Gateway, Mount};
use edge_mcp::{BuildError, Context, Endpoint, HandlerError, McpServer, Tool, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use worker::Env;

edge_mcp::worker::entry!(endpoint);

fn endpoint(env: &Env) -> Result<Endpoint, Box<dyn Error>> {
    let variable = |name| env.var(name).ok().map(|value| value.to_string());
    // The warm-up may run without variables.
    let endpoint = match (variable("PEER"), variable("MOUNTS")) {
        (Some(url), Some(mounts)) => Endpoint::of(gateway(&url, mounts.parse()?)?),
        (url, _) => {
            let mut client = McpClient::builder("bench", "1.0.0");
            if let Some(url) = url {
                client = client.server("peer", Upstream::at(&url)?);
            }
            Endpoint::of(server()?).state(client.build()?)
        }
    };
    Ok(endpoint.without_rate_limit().open_to_the_public())
}

/// The mounts have the names `peer0`, `peer1`, ….
fn gateway(url: &str, mounts: usize) -> Result<McpServer, Box<dyn Error>> {
    let mut gateway = Gateway::builder("bench", "1.0.0");
    for nth in 0..mounts {
        let mount = Mount::new(Upstream::at(url)?).each_tool(Tool::read_only);
        gateway = gateway.mount(format!("peer{nth}"), mount);
    }
    Ok(McpServer::builder("bench", "1.0.0").gateway(&gateway.build()?).build()?)
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
