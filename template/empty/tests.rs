//! Native tests of the whole endpoint. `npm test` runs them.

use edge_mcp::check::SizeLimits;
use edge_mcp::testing::{self, Client};
use edge_mcp::{Endpoint, StaticTokens};

use crate::server;

fn endpoint() -> Endpoint {
    let tokens = r#"[{ "token": "of-ada", "subject": "ada", "scopes": [] }]"#;
    testing::endpoint(server).auth(StaticTokens::from_json("MCP_STATIC_TOKENS", Some(tokens)).expect("a list"))
}

/// `npm run check` prints what directories of MCP servers and clients would reject, and how many tokens the tools take.
#[test]
fn check_before_publishing() {
    let check = endpoint().check(SizeLimits::default()).expect("a server");
    println!("{check}");
    assert!(check.problems.is_empty(), "solve the problems above");
}

#[test]
fn a_caller_needs_a_token() {
    testing::run(async {
        let endpoint = endpoint();
        assert_eq!(Client::new(&endpoint).request("server/discover", serde_json::json!({})).await.status(), 401);
        let ada = Client::new(&endpoint).token("of-ada");
        assert_eq!(ada.request("server/discover", serde_json::json!({})).await.status(), 200);
    });
}
