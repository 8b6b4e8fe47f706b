//! A resource that returns `Json`.
//!
//! error: a resource cannot return `…`
//! note: return a struct as JSON text: `serde_json::to_string(&value)?`, …

use edge_mcp::{Json, Resource};

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Weather {
    celsius: f64,
}

async fn read() -> Json<Weather> {
    Json(Weather { celsius: 21.5 })
}

fn resource() -> Resource {
    Resource::new("weather://paris", read)
}
