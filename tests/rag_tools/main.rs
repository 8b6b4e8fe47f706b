//! Tests of the tools that search, through an endpoint.

// Tests and their helpers may panic when an assumption fails.
#![allow(clippy::expect_used, clippy::panic, clippy::arithmetic_side_effects, clippy::indexing_slicing)]

mod answers;
mod arguments;
mod failures;
#[path = "../rag_filter/pairs.rs"]
#[allow(dead_code, unreachable_pub, reason = "other tests use the other functions")]
mod pairs;
mod scope;
mod server;
mod settings;
mod sizes;

use edge_mcp_test_support::{golden, random};
