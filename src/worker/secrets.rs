//! Settings from the environment of a Worker.

use worker::Env;

use crate::auth::{ConfigError, StateKeys, StaticTokens};

impl StaticTokens {
    /// The tokens that the secret (or variable) `name` lists, in the form of [`StaticTokens::from_json`].
    ///
    /// # Errors
    /// It is not set, or is not such a list. [`Endpoint::auth`](crate::http::Endpoint::auth) takes the error as it is.
    pub fn from_secret(env: &Env, name: &'static str) -> Result<Self, ConfigError> {
        let text = env.var(name).ok().map(|value| value.to_string());
        Self::from_json(name, text.as_deref())
    }
}

impl StateKeys {
    /// The keys of the secret `name`, in the form of [`StateKeys::from_text`].
    ///
    /// # Errors
    /// It is not set, or has a key that is too short. [`Endpoint::state_keys`](crate::http::Endpoint::state_keys) takes the
    /// error as it is.
    pub fn from_secret(env: &Env, name: &'static str) -> Result<Self, ConfigError> {
        let text = env.var(name).ok().map(|value| value.to_string());
        Self::from_text(name, text.as_deref())
    }
}
