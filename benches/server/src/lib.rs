//! The edge-mcp server that `scripts/bench` measures.

mod endpoint;

edge_mcp::worker::entry!(endpoint::endpoint);
