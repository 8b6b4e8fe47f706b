//! The example natively.

// A test may stop at the first surprise.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../../../tests/golden/mod.rs"]
mod golden;

use std::path::Path;

use edge_mcp::Endpoint;

use crate::server;

/// What is published changes only on purpose.
#[test]
fn tools_are_published_as_before() {
    let endpoint = Endpoint::new(|_| server(None)).without_auth();
    golden::compare_tools(&endpoint, &Path::new(env!("CARGO_MANIFEST_DIR")).join("tools.golden.json"));
}
