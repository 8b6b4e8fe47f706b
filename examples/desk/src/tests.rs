//! Native tests. `tests/e2e/sign-in.test.mjs` tests the pages in workerd, with a real authorization server.

#[test]
fn the_migration_is_that_of_the_library() {
    assert_eq!(include_str!("../migrations/0001_tokens.sql"), edge_mcp::client::token_migration());
}
