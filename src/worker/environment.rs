//! The environment of a Worker: variables, secrets, and the rate limit.

use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use worker::js_sys::{JSON, Reflect};
use worker::wasm_bindgen::JsValue;
use worker::{Env, RateLimiter};

use crate::auth::{ConfigError, StateKeys, StaticTokens};
use crate::host::{Environment, RateLimit};

impl Environment for Env {
    fn variable(&self, name: &str) -> Option<String> {
        let value = Reflect::get(self, &JsValue::from_str(name)).ok().filter(|value| !value.is_null_or_undefined())?;
        // wrangler.toml may hold other things than strings. As JSON they are not taken for what they are not.
        value.as_string().or_else(|| JSON::stringify(&value).ok()?.as_string())
    }

    fn rate_limit(&self, name: &str) -> Option<Rc<dyn RateLimit>> {
        let limiter = self.rate_limiter(name).ok()?;
        Some(Rc::new(Binding(limiter)))
    }
}

/// A `[[ratelimits]]` binding. What it allows is in wrangler.toml alone: it cannot be asked.
struct Binding(RateLimiter);

impl RateLimit for Binding {
    fn admits(&self, key: String) -> LocalBoxFuture<'_, Result<bool, String>> {
        async move { self.0.limit(key).await.map(|outcome| outcome.success).map_err(|error| error.to_string()) }
            .boxed_local()
    }

    /// The longer of the two periods that there are.
    fn period(&self) -> Duration {
        Duration::from_mins(1)
    }
}

impl StaticTokens {
    /// The tokens that the secret (or variable) `name` lists, in the form of [`StaticTokens::from_json`].
    ///
    /// # Errors
    /// It is not set, or is not such a list. [`Endpoint::auth`](crate::http::Endpoint::auth) takes the error as it is.
    pub fn from_secret(env: &Env, name: &'static str) -> Result<Self, ConfigError> {
        let text = env.variable(name);
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
        let text = env.variable(name);
        Self::from_text(name, text.as_deref())
    }
}
