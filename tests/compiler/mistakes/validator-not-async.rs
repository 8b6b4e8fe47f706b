//! A validator that is not async.
//!
//! error: `…` is not a token validator
//! label: expected a validator, or an async function of `PresentedToken<'_>` that returns `Result<Principal, TokenRefusal>`

use edge_mcp::auth::{PresentedToken, Principal, TokenRefusal};
use edge_mcp::Endpoint;

fn check(presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
    match presented.token() {
        "s3cret" => Ok(Principal::new("ada")),
        _ => Err(TokenRefusal::Expired),
    }
}

fn with(endpoint: Endpoint) -> Endpoint {
    endpoint.auth(check)
}
