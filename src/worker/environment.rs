//! The environment of a Worker: variables, secrets and the rate limit.

use std::rc::Rc;
use std::time::Duration;

use worker::js_sys::futures::JsFuture;
use worker::js_sys::{Function, JSON, Object, Promise, Reflect};
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::{Env, RateLimiter};

use crate::auth::{ConfigError, StateKeys, StaticTokens};
use crate::host::{Environment, RateLimit};

impl Environment for Env {
    fn variable(&self, name: &str) -> Option<String> {
        let value = Reflect::get(self, &JsValue::from_str(name)).ok().filter(|value| !value.is_null_or_undefined())?;
        // wrangler.toml may hold values that are not strings. They become JSON text.
        value.as_string().or_else(|| JSON::stringify(&value).ok()?.as_string())
    }

    fn about_secrets(&self) -> &'static str {
        "`wrangler dev` passes on a secret of .dev.vars only if `required`, below [secrets] in wrangler.toml, names it"
    }

    fn rate_limit(&self, name: &str) -> Option<RateLimit> {
        let binding = Rc::new(self.rate_limiter(name).ok()?);
        // The binding does not tell its period, so this is the longer of the two periods that Cloudflare has.
        Some(RateLimit::new(Duration::from_mins(1), move |key| {
            let binding = binding.clone();
            async move { count(&binding, &key).await.map_err(|error| format!("{error:?}")) }
        }))
    }
}

/// Calls `limit({ key })` of a `[[ratelimits]]` binding, and returns whether the key is within the limit. The worker crate's own method
/// converts these two objects by serde.
async fn count(binding: &RateLimiter, key: &str) -> Result<bool, JsValue> {
    let limiter: &JsValue = binding.as_ref();
    let asked = Object::new();
    Reflect::set(&asked, &"key".into(), &key.into())?;
    let limit: Function = Reflect::get(limiter, &"limit".into())?.dyn_into()?;
    let answer: Promise = limit.call1(limiter, &asked)?.dyn_into()?;
    let outcome = JsFuture::from(answer).await?;
    Reflect::get(&outcome, &"success".into())?.as_bool().ok_or(outcome)
}

impl StaticTokens {
    /// Parses the tokens in the secret or variable `name`, in the form of [`StaticTokens::from_json`].
    ///
    /// # Errors
    /// The secret is not set, or is not such a list.
    pub fn from_secret(env: &Env, name: &'static str) -> Result<Self, ConfigError> {
        let text = env.variable(name);
        Self::from_json(name, text.as_deref()).map_err(|error| error.about_secrets(env))
    }
}

impl StateKeys {
    /// Parses the keys in the secret `name`, in the form of [`StateKeys::from_text`].
    ///
    /// # Errors
    /// The secret is not set, or has a key that is too short.
    pub fn from_secret(env: &Env, name: &'static str) -> Result<Self, ConfigError> {
        let text = env.variable(name);
        Self::from_text(name, text.as_deref()).map_err(|error| error.about_secrets(env))
    }
}

/// Lets `?` convert the error in functions that return `worker::Result`. The caller then gets a 503 whose cause is in the log only.
impl From<ConfigError> for worker::Error {
    fn from(error: ConfigError) -> Self {
        Self::RustError(error.to_string())
    }
}
