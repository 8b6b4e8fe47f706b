//! A resource whose handler takes arguments.
//!
//! error: this function is called without arguments, and cannot take `…`
//! label: expected an async function of () or (Context)
//! note: a `Resource` has no arguments: the variables of a `ResourceTemplate` are the arguments of its handler

use edge_mcp::Resource;

#[derive(serde::Deserialize)]
struct City {
    city: String,
}

async fn read(City { city }: City) -> String {
    city
}

fn resource() -> Resource {
    Resource::new("weather://paris", read)
}
