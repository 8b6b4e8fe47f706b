//! Native tests. `tests/e2e/sign-in.test.mjs` tests the pages in workerd, with a real authorization server.

use edge_mcp::StaticTokens;
use edge_mcp::check::SizeLimits;
use edge_mcp::testing;

use crate::server;

#[test]
fn the_migration_is_that_of_the_library() {
    assert_eq!(include_str!("../migrations/0001_tokens.sql"), edge_mcp::client::token_migration());
}

/// Directories and clients accept the server.
#[test]
fn it_can_be_published() {
    let tokens = r#"[{ "token": "of-ada", "subject": "ada", "scopes": [] }]"#;
    let tokens = StaticTokens::from_json("MCP_STATIC_TOKENS", Some(tokens)).expect("a list");
    let check = testing::endpoint(server).auth(tokens).check(SizeLimits::default()).expect("a server");
    assert!(check.problems.is_empty(), "{check}");
}
