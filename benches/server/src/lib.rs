//! The edge-mcp server that `scripts/bench` measures.

pub mod endpoint;

edge_mcp::worker::entry!(endpoint::endpoint);
