//! The weather, from another MCP server.

use edge_mcp::client::{McpClient, Upstream};
use edge_mcp::{BuildError, Context, HandlerError, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub fn client(weather: Upstream) -> Result<McpClient, BuildError> {
    McpClient::builder("team-notes", env!("CARGO_PKG_VERSION")).server("weather", weather).build()
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// The name of a city, such as Paris
    location: String,
}

pub async fn get(place: Place, cx: Context) -> Result<ToolResult, HandlerError> {
    let weather = cx.state::<McpClient>()?.connect(&cx).server("weather")?;
    Ok(weather.call("get-weather", place).idempotent().await?.into_tool_result())
}
