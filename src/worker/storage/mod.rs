//! The bindings for storage: D1 as a [`Database`](crate::storage::Database), and Workers KV as a [`KvStore`](crate::storage::KvStore).

mod d1;
mod kv;

use worker::Env;
use worker::js_sys::Reflect;
use worker::wasm_bindgen::JsValue;

use crate::config::ConfigError;

pub use d1::database;
pub use kv::kv;

/// Returns a binding that has `method`. `section` is the section of wrangler.toml that declares it.
fn binding(env: &Env, name: &'static str, method: &str, section: &str) -> Result<JsValue, ConfigError> {
    let binding = Reflect::get(env, &name.into()).unwrap_or_default();
    let is_such = Reflect::get(&binding, &method.into()).is_ok_and(|method| method.is_function());
    if is_such {
        Ok(binding)
    } else {
        Err(ConfigError::new(name, format!("is not a binding of [[{section}]] in wrangler.toml")))
    }
}

/// Returns the message of an exception.
fn message(error: &JsValue) -> String {
    let message = Reflect::get(error, &"message".into()).ok().and_then(|message| message.as_string());
    message.unwrap_or_else(|| format!("{error:?}"))
}
