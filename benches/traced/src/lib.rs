//! The server of `benches/server` with tracing. It is a crate of its own, because the module of `benches/server` must not contain the code of
//! tracing.

use edge_mcp::worker::tracing;

#[path = "../../server/src/endpoint.rs"]
pub mod endpoint;

edge_mcp::worker::entry!(|env| endpoint::endpoint(env).map(|endpoint| endpoint.telemetry(tracing())));
