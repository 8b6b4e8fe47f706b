//! The smallest server of your own: one tool.
use edge_mcp::auth::StaticTokens;
use edge_mcp::http::Endpoint;
use edge_mcp::server::{BuildError, Json, McpServer, RequestInfo, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use worker::{Env, Request, Response, event};

#[derive(Deserialize, JsonSchema)]
struct Place {
    /// City name
    #[schemars(length(min = 1, max = 200))]
    location: String,
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    celsius: f64,
}

async fn get_weather(place: Place) -> Result<Json<Weather>, ToolError> {
    match place.location.as_str() {
        "Paris" => Ok(Json(Weather { celsius: 21.5 })),
        _ => Err(ToolError::new("There is a thermometer in Paris only.")),
    }
}

fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    let weather = Tool::new("get-weather", get_weather).description("The temperature of a city.").read_only();
    McpServer::builder("weather", "1.0.0").tool(weather).build()
}

#[event(fetch)]
async fn fetch(request: Request, env: Env, _: worker::Context) -> worker::Result<Response> {
    let endpoint = Endpoint::new(server).auth(StaticTokens::from_secret(&env, "MCP_STATIC_TOKENS"));
    edge_mcp::worker::serve(endpoint, request).await
}
