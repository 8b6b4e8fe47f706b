//! A resource that returns a struct.
//!
//! error: a resource cannot return `…`
//! label: the handler must return text, bytes, `ResourceContents`, or an `Option` or a `Result` of one of them
//! note: return a struct as JSON text: `serde_json::to_string(&value)?`, with `.mime_type("application/json")` on the resource

use edge_mcp::Resource;

#[derive(serde::Serialize)]
struct Weather {
    celsius: f64,
}

async fn read() -> Weather {
    Weather { celsius: 21.5 }
}

fn resource() -> Resource {
    Resource::new("weather://paris", read)
}
