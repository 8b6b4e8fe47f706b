//! A check of one token, as an endpoint makes it.

use std::rc::Rc;

use super::host::TestHost;
use crate::auth::protected_resource::ServerUrl;
use crate::auth::rate_limit::{AddressLimit, RateLimiting};
use crate::auth::{PresentedToken, Principal, ProtectedResource, TokenRefusal, TokenValidator};
use crate::host::Host;

/// Presents `token` to a validator, as an endpoint with this `resource` does, and returns the caller that the token identifies.
///
/// The validator gets the clock and the network of `host`. There is no rate limit. The endpoint would also check the expiry and the
/// audience of the caller.
///
/// # Errors
/// The refusal of the validator.
///
/// ```
/// use edge_mcp::testing::{self, TestHost, validate};
/// use edge_mcp::auth::{PresentedToken, Principal, ProtectedResource, TokenRefusal};
///
/// async fn by_length(presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
///     if presented.token().len() == 64 { Ok(Principal::new("ada")) } else { Err(TokenRefusal::Expired) }
/// }
///
/// let (host, resource) = (TestHost::new(), ProtectedResource::at("https://example.com/mcp")?);
/// let refused = testing::run(async { validate(&by_length, "short", &resource, &host).await });
/// assert_eq!(refused, Err(TokenRefusal::Expired));
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
pub async fn validate(
    validator: &impl TokenValidator,
    token: &str,
    resource: &ProtectedResource,
    host: &TestHost,
) -> Result<Principal, TokenRefusal> {
    let head = http::Request::new(()).into_parts().0;
    let host: Rc<dyn Host> = Rc::new(host.clone());
    let server_url = ServerUrl::new(resource, "http://localhost/mcp", "/mcp");
    let address_limit = AddressLimit::new(&RateLimiting::Off, &head, &host);
    let presented = PresentedToken { token, host: &host, server_url: &server_url, address_limit: &address_limit };
    validator.validate(presented).await
}
