//! Authorization: the validators of bearer tokens, the callers that they identify, and this server as a protected resource.

pub(crate) mod any_of;
pub(crate) mod bearer;
pub(crate) mod challenge;
pub(crate) mod claims;
#[cfg(feature = "client")]
pub(crate) mod client_assertion;
pub(crate) mod client_authentication;
pub(crate) mod encryption_keys;
pub(crate) mod introspection;
pub(crate) mod jwks;
pub(crate) mod jwt;
pub(crate) mod principal;
pub(crate) mod protected_resource;
pub(crate) mod rate_limit;
pub(crate) mod scopes;
pub(crate) mod state_keys;
pub(crate) mod static_tokens;
mod token_cache;
pub(crate) mod validator;

pub use any_of::AnyOf;
pub use claims::ExpectedClaims;
pub use introspection::Introspection;
pub use jwks::Algorithm;
pub use jwt::Jwt;
pub use principal::Principal;
pub use protected_resource::ProtectedResource;
pub use state_keys::StateKeys;
pub(crate) use static_tokens::StaticTokens;
pub use validator::{PresentedToken, TokenRefusal, TokenValidator};

pub use crate::config::SecureUrl;
