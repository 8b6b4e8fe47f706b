//! Settings from the environment of a Worker.

use worker::Env;

use crate::auth::{ConfigError, StaticTokens};

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
