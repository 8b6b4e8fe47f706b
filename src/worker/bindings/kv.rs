//! Workers KV as a store of keys and values.

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use worker::Env;
use worker::js_sys::futures::JsFuture;
use worker::js_sys::{Array, Promise, Uint8Array};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsCast, JsValue};

use super::{BindingKind, binding, message};
use crate::config::ConfigError;
use crate::limits::KV_PAGE;
use crate::storage::{KvEngine, KvError, KvKey, KvKeys, KvStore, ListKeys};

const KV_NAMESPACE: BindingKind =
    BindingKind { method: "getWithMetadata", section: "[[kv_namespaces]]", settings: "`binding` and `id`" };

#[wasm_bindgen(module = "/src/worker/bindings/kv.js")]
extern "C" {
    fn get(store: &JsValue, key: &str) -> Promise;

    fn put(store: &JsValue, key: &str, value: Uint8Array, expires: Option<f64>) -> Promise;

    fn delete_key(store: &JsValue, key: &str) -> Promise;

    fn list(store: &JsValue, prefix: &str, limit: usize, cursor: Option<String>) -> Promise;
}

/// Returns the store of a KV binding, such as `CACHE`.
///
/// # Errors
/// wrangler.toml has no such binding of `[[kv_namespaces]]`.
pub fn kv(env: &Env, name: &'static str) -> Result<KvStore, ConfigError> {
    let binding = binding(env, name, KV_NAMESPACE)?;
    Ok(KvStore::new(name, KvNamespace { name, binding }))
}

struct KvNamespace {
    name: &'static str,
    binding: JsValue,
}

impl KvNamespace {
    async fn answer(&self, promise: Promise) -> Result<JsValue, KvError> {
        let failed = |error: JsValue| KvError::new(format!("the store `{}` failed ({})", self.name, message(&error)));
        JsFuture::from(promise).await.map_err(failed)
    }
}

impl KvEngine for KvNamespace {
    fn get(&self, key: &str) -> LocalBoxFuture<'_, Result<Option<Vec<u8>>, KvError>> {
        let answer = get(&self.binding, key);
        async move {
            let value = self.answer(answer).await?;
            Ok(value.dyn_ref::<Uint8Array>().map(Uint8Array::to_vec))
        }
        .boxed_local()
    }

    fn put(&self, key: &str, value: &[u8], expires: Option<u64>) -> LocalBoxFuture<'_, Result<(), KvError>> {
        #[allow(clippy::cast_precision_loss, reason = "a number of seconds")]
        let answer = put(&self.binding, key, value.into(), expires.map(|seconds| seconds as f64));
        async move { self.answer(answer).await.map(drop) }.boxed_local()
    }

    fn delete(&self, key: &str) -> LocalBoxFuture<'_, Result<(), KvError>> {
        let answer = delete_key(&self.binding, key);
        async move { self.answer(answer).await.map(drop) }.boxed_local()
    }

    fn list(&self, ListKeys { prefix, limit, cursor }: ListKeys) -> LocalBoxFuture<'_, Result<KvKeys, KvError>> {
        let answer = list(&self.binding, &prefix, limit.unwrap_or(KV_PAGE), cursor);
        async move {
            let page = Array::from(&self.answer(answer).await?);
            let keys = Array::from(&page.get(1)).into_iter().filter_map(|key| {
                let key = Array::from(&key);
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of seconds")]
                let expires = key.get(1).as_f64().map(|seconds| seconds as u64);
                Some(KvKey { name: key.get(0).as_string()?, expires })
            });
            Ok(KvKeys { keys: keys.collect(), cursor: page.get(0).as_string() })
        }
        .boxed_local()
    }
}
