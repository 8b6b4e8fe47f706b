use edge_mcp::{BuildError, Endpoint, HandlerError, Json, McpServer, RequestInfo, StaticTokens, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Place {
    /// City name, such as Paris
    location: String,
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    celsius: f64,
}

async fn get_weather(place: Place) -> Result<Json<Weather>, HandlerError> {
    let in_paris = place.location == "Paris";
    in_paris.then_some(Json(Weather { celsius: 21.5 })).ok_or(HandlerError::new("The only thermometer is in Paris."))
}

fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    let weather = Tool::new("get-weather", "Returns the temperature in a city.", get_weather).title("Get the weather");
    let weather = weather.read_only().closed_world();
    McpServer::builder("weather", "1.0.0").description("The weather in Paris.").tool(weather).build()
}

edge_mcp::worker::entry!(|env| {
    StaticTokens::from_secret(env, "MCP_STATIC_TOKENS").map(|tokens| Endpoint::new(server).auth(tokens))
});
