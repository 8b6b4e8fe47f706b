//! A framework for MCP servers at the edge.
#![forbid(unsafe_code)]

pub mod auth;
pub mod host;
pub mod http;
pub mod protocol;
mod rpc;
pub mod schema;
pub mod server;
#[cfg(feature = "worker")]
pub mod worker;
