//! The bindings of a Worker: D1 as a [`Database`](crate::storage::Database), Workers KV as a [`KvStore`](crate::storage::KvStore), Workers AI
//! as [`Ai`](crate::models::Ai), Vectorize as a `rag::VectorIndex`, and Analytics Engine as [`Telemetry`](crate::host::Telemetry).
//!
//! A binding can be an object of the platform, or a service binding to a Worker with the same methods. So the JavaScript beside each file
//! calls the methods by their names and awaits every result. A bundle contains only the JavaScript of functions that its program calls.

mod ai;
mod d1;
mod data_points;
mod kv;
#[cfg(feature = "rag")]
mod vectorize;

use worker::Env;
use worker::js_sys::Reflect;
use worker::wasm_bindgen::JsValue;

use crate::config::ConfigError;

pub use ai::ai;
pub use d1::database;
pub use data_points::data_points;
pub use kv::kv;
#[cfg(feature = "rag")]
pub use vectorize::vectorize;

/// A kind of binding.
struct BindingKind {
    /// A method that only bindings of this kind have.
    method: &'static str,
    /// The section of wrangler.toml that declares the binding.
    section: &'static str,
    /// The settings of the section.
    settings: &'static str,
}

/// Returns the binding `name`.
///
/// # Errors
/// wrangler.toml has no binding of this kind with this name.
fn binding(
    env: &Env,
    name: &'static str,
    BindingKind { method, section, settings }: BindingKind,
) -> Result<JsValue, ConfigError> {
    let binding = Reflect::get(env, &name.into()).unwrap_or_default();
    let is_such = Reflect::get(&binding, &method.into()).is_ok_and(|method| method.is_function());
    if is_such {
        Ok(binding)
    } else {
        let problem = format!("is not a binding of {section} in wrangler.toml: add this section with {settings}");
        Err(ConfigError::new(name, problem))
    }
}

/// Returns the message of an exception.
fn message(error: &JsValue) -> String {
    let message = Reflect::get(error, &"message".into()).ok().and_then(|message| message.as_string());
    message.unwrap_or_else(|| format!("{error:?}"))
}
