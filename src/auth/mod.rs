//! Authorization: this server as an OAuth resource server.
//!
//! `bearer` reads the token of a request, and a `validator` turns it into a `principal`, the caller. There are three validators:
//! `static_tokens`, `introspection` and `jwt`. `any_of` combines several. The last two check the `claims` of a token with the same code,
//! and cache their answers: `token_cache` has answers about tokens, and `jwks` has the keys of an issuer. Then `rate_limit` counts the
//! request, and `scopes` decides which items the caller may use. To a request without a valid token, `challenge` writes the
//! `WWW-Authenticate` header, which refers to the metadata in `protected_resource`. `state_keys` has the keys of request states.
//!
//! `client_authentication` is the authentication to an authorization server: of this server for introspection, and of the MCP client for
//! tokens. `client_assertion` signs for it.

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
