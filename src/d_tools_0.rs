use edge_mcp::{BuildError, Json, McpServer, RequestInfo, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Parcel {
    /// Weight in grams
    #[schemars(range(min = 1, max = 30_000))]
    grams: u32,
    /// Country code of two letters, such as FR
    #[schemars(length(equal = 2))]
    country: String,
    /// Whether it is to come in one day
    #[serde(default)]
    express: bool,
}

#[derive(Serialize, JsonSchema)]
struct Quote {
    /// Price in cents
    cents: u32,
}

async fn quote(Parcel { grams, country, express }: Parcel) -> Result<Json<Quote>, ToolError> {
    if country == "AQ" {
        return Err(ToolError::new("Nobody delivers to AQ. Ask for another country."));
    }
    let normal = 300 + grams / 10;
    Ok(Json(Quote { cents: if express { normal * 3 } else { normal } }))
}

pub fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    let quote = Tool::new("quote-parcel", quote)
        .title("Price of a parcel")
        .description("What it costs to send a parcel.")
        .read_only();
    McpServer::builder("parcels", "1.0.0").tool(quote).build()
}
