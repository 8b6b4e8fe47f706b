//! A framework for MCP servers at the edge.
