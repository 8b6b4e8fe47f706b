//! A map of variables in place of an environment.
//!
//! error: `…` is not an environment
//! label: expected the environment of a Worker, or a function of `&str` that returns `Option<String>`
//! note: pass a map as a function: `&|name: &str| variables.get(name).cloned()`

use std::collections::HashMap;

use edge_mcp::Endpoint;

fn with(endpoint: Endpoint, variables: &HashMap<String, String>) -> Endpoint {
    endpoint.configured(variables)
}
