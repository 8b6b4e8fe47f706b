//! A gateway: the servers of the variable `UPSTREAMS` behind one endpoint. Each has its own token, from the secret `UPSTREAM_TOKENS`.
#![forbid(unsafe_code)]

mod configuration;
#[cfg(test)]
mod tests;

use edge_mcp::host::Environment;
use edge_mcp::protocol::LogLevel;
use edge_mcp::{ConfigError, Endpoint, McpServer};

edge_mcp::worker::entry!(endpoint);

fn endpoint(env: &impl Environment) -> Result<Endpoint, ConfigError> {
    let gateway = configuration::gateway(env)?;
    let server = move |_: &_| {
        let server = McpServer::builder("gateway", env!("CARGO_PKG_VERSION")).title("Gateway");
        let server = server.description("Other MCP servers behind one endpoint.");
        // The callers of older revisions get the log messages from this level on.
        server.gateway(&gateway).pass_tasks().logging(LogLevel::Info).build()
    };
    Ok(Endpoint::new(server).configured(env))
}
