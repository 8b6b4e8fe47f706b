//! The environment of a Worker: variables, secrets and the rate limit.

use std::time::Duration;

use worker::Env;
use worker::js_sys::futures::JsFuture;
use worker::js_sys::{Function, JSON, Object, Promise, Reflect};
use worker::wasm_bindgen::{JsCast, JsValue};

use crate::auth::{StateKeys, StaticTokens};
use crate::config::ConfigError;
use crate::host::{Environment, RateLimit};

impl Environment for Env {
    fn variable(&self, name: &str) -> Option<String> {
        let value = Reflect::get(self, &JsValue::from_str(name)).ok().filter(|value| !value.is_null_or_undefined())?;
        // wrangler.toml can contain values that are not strings. They become JSON text.
        value.as_string().or_else(|| JSON::stringify(&value).ok()?.as_string())
    }

    fn about_secrets(&self) -> &'static str {
        "`wrangler dev` passes a secret of .dev.vars to the Worker only if `required` in [secrets] of wrangler.toml names it"
    }

    #[cfg(feature = "tasks")]
    fn task_objects(&self, name: &str) -> Option<std::rc::Rc<dyn crate::host::TaskObjects>> {
        let binding = Reflect::get(self, &name.into()).ok()?;
        // The namespace of a Durable Object is an object with this method.
        let _is_function: Function = Reflect::get(&binding, &"idFromName".into()).ok()?.dyn_into().ok()?;
        Some(std::rc::Rc::new(super::tasks::TaskNamespace(binding)))
    }

    #[cfg(feature = "tasks")]
    fn version(&self) -> Option<String> {
        let metadata = Reflect::get(self, &"CF_VERSION_METADATA".into()).ok()?;
        Reflect::get(&metadata, &"id".into()).ok()?.as_string().filter(|id| !id.is_empty())
    }

    fn rate_limit(&self, name: &str) -> Option<RateLimit> {
        let binding = Reflect::get(self, &name.into()).ok()?;
        // A `[[ratelimits]]` binding is an object with this method.
        let limit: Function = Reflect::get(&binding, &"limit".into()).ok()?.dyn_into().ok()?;
        // The binding does not provide its period. Cloudflare has two periods, and 60 s is the longer one.
        Some(RateLimit::new(Duration::from_mins(1), move |key| {
            let answer = ask(&binding, &limit, &key);
            async move { is_within_limit(answer).await.map_err(|error| format!("{error:?}")) }
        }))
    }
}

/// Calls `limit({ key })` of a binding. The method of the worker crate would convert the objects with serde.
fn ask(binding: &JsValue, limit: &Function, key: &str) -> Result<JsValue, JsValue> {
    let options = Object::new();
    Reflect::set(&options, &"key".into(), &key.into())?;
    limit.call1(binding, &options)
}

/// Returns whether the key is within the limit, according to the answer of the binding.
async fn is_within_limit(answer: Result<JsValue, JsValue>) -> Result<bool, JsValue> {
    let answer: Promise = answer?.dyn_into()?;
    let outcome = JsFuture::from(answer).await?;
    Reflect::get(&outcome, &"success".into())?.as_bool().ok_or(outcome)
}

impl StaticTokens {
    /// Parses the tokens in the secret or variable `name`, in the form of [`StaticTokens::from_json`].
    ///
    /// # Errors
    /// Fails if the secret is not set, or is not such a list.
    pub fn from_secret(env: &Env, name: &'static str) -> Result<Self, ConfigError> {
        let text = env.variable(name);
        Self::from_json(name, text.as_deref()).map_err(|error| error.about_secrets(env))
    }
}

impl StateKeys {
    /// Parses the keys in the secret `name`, in the form of [`StateKeys::from_text`].
    ///
    /// # Errors
    /// Fails if the secret is not set, or if a key is too short.
    pub fn from_secret(env: &Env, name: &'static str) -> Result<Self, ConfigError> {
        let text = env.variable(name);
        Self::from_text(name, text.as_deref()).map_err(|error| error.about_secrets(env))
    }
}

/// Converts the error for `?` in an endpoint function. The 503 names a binding that is missing. Other errors are only in the log.
impl From<worker::Error> for ConfigError {
    fn from(error: worker::Error) -> Self {
        let text = error.to_string();
        // The worker crate has no variant of its error for a missing binding.
        let missing = text.strip_prefix("Binding `").and_then(|rest| rest.strip_suffix("` is undefined."));
        match missing {
            Some(name) => Self::new(name.to_owned(), "is missing: bind it in wrangler.toml"),
            None => Self::private("the Worker", format!("cannot be configured: {text}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worker crate says only in the text that a binding is missing. Other errors may have any text, so callers do not see them.
    #[test]
    fn the_error_of_a_missing_binding_names_it() {
        let missing = ConfigError::from(worker::Error::RustError("Binding `STOCK` is undefined.".to_owned()));
        assert_eq!((&*missing.variable, missing.is_public()), ("STOCK", true));
        let other = ConfigError::from(worker::Error::RustError("The key is s3cret.".to_owned()));
        assert_eq!((other.to_string().contains("s3cret"), other.is_public()), (true, false));
    }
}
