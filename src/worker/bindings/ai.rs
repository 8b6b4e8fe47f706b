//! Workers AI.

use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use worker::Env;
use worker::js_sys::futures::JsFuture;
use worker::js_sys::{Promise, Uint8Array};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsValue};

use super::{BindingKind, binding, message};
use crate::config::ConfigError;
use crate::models::{Ai, AiFailure};

const WORKERS_AI: BindingKind = BindingKind { method: "run", section: "[ai]", settings: "`binding`" };

#[wasm_bindgen(module = "/src/worker/bindings/ai.js")]
extern "C" {
    fn run(ai: &JsValue, model: &str, inputs: &str) -> Promise;
}

/// Returns the models of a binding of Workers AI, such as `AI`.
///
/// # Errors
/// wrangler.toml has no such binding of `[ai]`.
pub fn ai(env: &Env, name: &'static str) -> Result<Rc<dyn Ai>, ConfigError> {
    Ok(Rc::new(AiBinding(binding(env, name, WORKERS_AI)?)))
}

struct AiBinding(JsValue);

impl Ai for AiBinding {
    fn run(&self, model: &str, inputs: String) -> LocalBoxFuture<'static, Result<Vec<u8>, AiFailure>> {
        let answer = run(&self.0, model, &inputs);
        async move {
            let answer = JsFuture::from(answer).await.map_err(|error| AiFailure(message(&error)))?;
            Ok(Uint8Array::new(&answer).to_vec())
        }
        .boxed_local()
    }
}
