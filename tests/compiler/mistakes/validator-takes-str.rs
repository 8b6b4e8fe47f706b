//! A validator that takes the token as `&str`.
//!
//! code: E0631

use edge_mcp::auth::{Principal, TokenRefusal};
use edge_mcp::Endpoint;

async fn check(token: &str) -> Result<Principal, TokenRefusal> {
    match token {
        "s3cret" => Ok(Principal::new("ada")),
        _ => Err(TokenRefusal::Expired),
    }
}

fn with(endpoint: Endpoint) -> Endpoint {
    endpoint.auth(check)
}
