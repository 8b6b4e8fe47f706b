//! A server function that returns the builder, not the server.
//!
//! code: E0271

use edge_mcp::{Endpoint, McpServer, McpServerBuilder, RequestInfo};

fn server(_: &RequestInfo) -> McpServerBuilder {
    McpServer::builder("shop", "1.0.0")
}

fn endpoint() -> Endpoint {
    Endpoint::new(server)
}
