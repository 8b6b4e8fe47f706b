//! Authorization: this server as an OAuth resource server.
//!
//! | module | content |
//! |---|---|
//! | `principal` | the caller that a token identifies |
//! | `validator` | the interface of validators, also for your own |
//! | `static_tokens` | a validator with a list of tokens from the configuration |
//! | `introspection` | a validator that asks the authorization server about each token |
//! | `jwt` | a validator of signed tokens |
//! | `any_of` | several validators as one |
//! | `claims` | the checks of a token's claims |
//! | `token_cache` | the cache of answers about tokens |
//! | `jwks` | the published keys of an issuer, and their cache |
//! | `scopes` | the scopes that a token grants |
//! | `rate_limit` | the count of requests per caller or per address |
//! | `challenge` | the `WWW-Authenticate` header |
//! | `protected_resource` | the metadata from which a client discovers the authorization server |
//! | `secure_url` | URLs to which tokens may be sent |
//! | `state_keys` | the keys that encrypt request states |
//! | `bearer` | the `Authorization` header |
//! | `config` | the error of a wrong configuration, and lists of values |

pub(crate) mod any_of;
pub(crate) mod bearer;
pub(crate) mod challenge;
pub(crate) mod claims;
pub(crate) mod config;
pub(crate) mod introspection;
pub(crate) mod jwks;
pub(crate) mod jwt;
pub(crate) mod principal;
pub(crate) mod protected_resource;
pub(crate) mod rate_limit;
pub(crate) mod scopes;
pub(crate) mod secure_url;
pub(crate) mod state_keys;
pub(crate) mod static_tokens;
mod token_cache;
pub(crate) mod validator;

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
pub use validator::{Presented, TokenRefusal, TokenValidator};
