//! A `Result` in place of a validator.
//!
//! error: `…` is not a token validator
//! note: if this is a `Result`, use `?`: the endpoint function may return `Result<Endpoint, ConfigError>`

use edge_mcp::{Endpoint, StaticTokens};

fn with(endpoint: Endpoint) -> Endpoint {
    endpoint.auth(StaticTokens::from_json("MCP_STATIC_TOKENS", None))
}
