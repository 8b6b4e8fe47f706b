//! Who may call: the server as an OAuth resource server.
//!
//! | module | what it holds |
//! |---|---|
//! | [`principal`] | who calls |
//! | [`validator`] | what decides whether a token is good |
//! | [`static_tokens`] | tokens that the configuration lists |
//! | [`state_keys`] | keys that sign what a client carries between the rounds of a call |
//! | [`bearer`] | the `Authorization` header |
//! | [`config`] | a configuration that cannot be served |

pub mod bearer;
pub mod config;
pub mod principal;
pub mod state_keys;
pub mod static_tokens;
pub mod validator;

pub use config::ConfigError;
pub use principal::Principal;
pub use state_keys::StateKeys;
pub use static_tokens::StaticTokens;
pub use validator::{TokenRefusal, TokenValidator};
