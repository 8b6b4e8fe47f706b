use edge_mcp::{BuildError, McpServer, RequestInfo, Resource, ResourceTemplate};
use serde::Deserialize;

async fn opening_hours() -> &'static str {
    "Tuesday to Saturday, 9 to 18."
}

#[derive(Deserialize)]
struct Dish {
    name: String,
}

async fn recipe(Dish { name }: Dish) -> Option<String> {
    (name == "gazpacho").then(|| "Blend tomatoes, cucumber and bread. Chill.".to_owned())
}

pub fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    let hours = Resource::new("kitchen://hours", opening_hours).name("Opening hours").mime_type("text/plain");
    let recipes = ResourceTemplate::new("kitchen://recipes/{name}", recipe).name("Recipe").mime_type("text/markdown");
    McpServer::builder("kitchen", "1.0.0").resource(hours).resource_template(recipes).build()
}
