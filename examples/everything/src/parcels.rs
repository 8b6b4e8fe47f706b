//! A tool that calls a tool of another MCP server. The other server is in the same program, so the example needs no network.

use edge_mcp::client::{InProcess, McpClient, Upstream};
use edge_mcp::{ConfigError, Context, Endpoint, HandlerError, Json, McpServer, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Parcel {
    /// The number of the parcel
    #[schemars(range(min = 1))]
    number: u32,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Place {
    city: String,
}

/// Returns a client of the server `parcels`.
pub(crate) fn client() -> Result<McpClient, ConfigError> {
    let parcels = Endpoint::new(|_| {
        let locate = |Parcel { number }: Parcel| async move {
            let city = if number % 2 == 0 { "Lyon" } else { "Paris" };
            Json(Place { city: city.to_owned() })
        };
        McpServer::builder("parcels", "1.0.0")
            .tool(Tool::new("locate", "Locates a parcel.", locate).read_only())
            .build()
    });
    // Only this program can reach the endpoint, so it has neither authentication nor a rate limit.
    let parcels = InProcess::new(parcels.without_auth().without_rate_limit());
    let parcels = Upstream::via("http://localhost/mcp", parcels)?;
    Ok(McpClient::builder("everything", env!("CARGO_PKG_VERSION")).server("parcels", parcels).build()?)
}

pub(crate) fn tool() -> Tool {
    Tool::new("track-parcel", "Asks another MCP server where a parcel is.", track)
        .title("Parcel tracking")
        .read_only()
        .open_world()
}

async fn track(parcel: Parcel, cx: Context) -> Result<String, HandlerError> {
    let parcels = cx.state::<McpClient>()?.connect(&cx).server("parcels")?;
    let Place { city } = parcels.call("locate", &parcel).await?.json()?;
    Ok(format!("Parcel {} is in {city}.", parcel.number))
}
