//! Native tests. `tests/e2e/signed-in.test.mjs` runs both Workers.

use edge_mcp::StaticTokens;
use edge_mcp::check::SizeLimits;
use edge_mcp::testing;

use crate::server;

/// Directories and clients accept the server.
#[test]
fn it_can_be_published() {
    let tokens = r#"[{ "token": "of-ada", "subject": "ada", "scopes": [] }]"#;
    let tokens = StaticTokens::from_json("MCP_STATIC_TOKENS", Some(tokens)).expect("a list");
    let check = testing::endpoint(server).auth(tokens).check(SizeLimits::default()).expect("a server");
    assert!(check.problems.is_empty(), "{check}");
}
