//! An MCP server on Cloudflare Workers.

#[cfg(test)]
mod tests;

use edge_mcp::{BuildError, Endpoint, McpServer, RequestInfo};

/// Builds the server. The endpoint calls this function for each request.
fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    McpServer::builder(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        .description(env!("CARGO_PKG_DESCRIPTION"))
        // Add tools, resources and prompts here.
        .build()
}

/// Builds the endpoint from the variables in `wrangler.toml`. An isolate calls this function when it starts and at its first request.
fn endpoint(env: &worker::Env) -> Endpoint {
    Endpoint::new(server).configured(env)
}

edge_mcp::worker::entry!(endpoint);
