//! Who may call: the server as an OAuth resource server.
//!
//! | module | what it holds |
//! |---|---|
//! | [`principal`] | who calls |
//! | [`validator`] | what decides whether a token is good: an interface, for validators of your own |
//! | [`static_tokens`] | tokens that the configuration lists |
//! | [`introspection`] | tokens that the authorization server is asked about |
//! | [`jwt`] | tokens that carry their own claims, signed |
//! | [`any_of`] | several validators |
//! | `claims` | what a token says, and whether that is good here |
//! | `answers`, [`jwks`] | what was said of tokens, and the keys of issuers, for as long as they may be believed |
//! | `scopes` | what a token permits |
//! | `challenge` | what a caller who did not pass is told |
//! | [`protected_resource`] | what a client must know to get a token |
//! | [`secure_url`] | URLs that tokens may be sent to |
//! | [`state_keys`] | keys that sign what a client carries between the rounds of a call |
//! | [`bearer`] | the `Authorization` header |
//! | [`config`] | a configuration that cannot be served |

pub mod any_of;
pub mod bearer;
pub(crate) mod challenge;
pub(crate) mod claims;
pub mod config;
pub mod introspection;
pub mod jwks;
pub mod jwt;
pub mod principal;
pub mod protected_resource;
pub(crate) mod rate_limit;
pub(crate) mod scopes;
pub mod secure_url;
pub mod state_keys;
pub mod static_tokens;
mod token_cache;
pub mod validator;

pub use any_of::AnyOf;
pub use config::ConfigError;
pub use introspection::Introspection;
pub use jwks::Algorithm;
pub use jwt::Jwt;
pub use principal::Principal;
pub use protected_resource::ProtectedResource;
pub use secure_url::SecureUrl;
pub use state_keys::StateKeys;
pub use static_tokens::StaticTokens;
pub use validator::{BoxValidator, IntoValidator, Presented, TokenRefusal, TokenValidator};
