//! Vectorize as an index of vectors.

use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use worker::Env;
use worker::js_sys::futures::JsFuture;
use worker::js_sys::{Array, Float32Array, Promise};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsValue};

use super::{BindingKind, binding, message};
use crate::config::ConfigError;
use crate::limits::{VECTOR_DELETIONS, VECTOR_MATCHES, VECTOR_UPSERT};
use crate::rag::{IndexedVector, PassageId, VectorIndex, VectorIndexError, VectorQuery};

const VECTORIZE: BindingKind =
    BindingKind { method: "deleteByIds", section: "[[vectorize]]", settings: "`binding` and `index_name`" };

#[wasm_bindgen(module = "/src/worker/bindings/vectorize.js")]
extern "C" {
    fn nearest(index: &JsValue, vector: Float32Array, most: usize, namespace: &str) -> Promise;

    fn upsert(index: &JsValue, namespace: &str, vectors: &Array) -> Promise;

    fn delete_by_ids(index: &JsValue, ids: &Array) -> Promise;
}

/// Returns the index of a binding of Vectorize, such as `VECTORS`.
///
/// # Errors
/// wrangler.toml has no such binding of `[[vectorize]]`.
pub fn vectorize(env: &Env, name: &'static str) -> Result<Rc<dyn VectorIndex>, ConfigError> {
    let binding = binding(env, name, VECTORIZE)?;
    Ok(Rc::new(Vectorize { name, binding }))
}

struct Vectorize {
    name: &'static str,
    binding: JsValue,
}

impl Vectorize {
    fn error(&self, problem: &str) -> VectorIndexError {
        VectorIndexError(format!("the index `{}` failed ({problem})", self.name))
    }

    async fn answer(&self, promise: Promise) -> Result<JsValue, VectorIndexError> {
        JsFuture::from(promise).await.map_err(|error| self.error(&message(&error)))
    }

    /// Reads the id of a vector, which is the number of a passage as text.
    fn passage(&self, id: &JsValue) -> Result<PassageId, VectorIndexError> {
        let number = id.as_string().and_then(|id| id.parse().ok());
        number.ok_or_else(|| {
            self.error("it has a vector whose id is not the number of a passage: use an index without other vectors")
        })
    }
}

impl VectorIndex for Vectorize {
    fn query(&self, query: VectorQuery) -> LocalBoxFuture<'_, Result<Vec<PassageId>, VectorIndexError>> {
        let VectorQuery { vector, namespace, most } = query;
        let answer = nearest(&self.binding, vector.as_slice().into(), most.min(VECTOR_MATCHES), &namespace);
        async move { Array::from(&self.answer(answer).await?).iter().map(|id| self.passage(&id)).collect() }
            .boxed_local()
    }

    fn upsert(&self, namespace: &str, vectors: Vec<IndexedVector>) -> LocalBoxFuture<'_, Result<(), VectorIndexError>> {
        let count = vectors.len();
        let answer = (count <= VECTOR_UPSERT).then(|| {
            let entry = |IndexedVector { id, vector }: IndexedVector| {
                Array::of2(&id.to_string().into(), &Float32Array::from(vector.as_slice()))
            };
            upsert(&self.binding, namespace, &vectors.into_iter().map(entry).collect())
        });
        async move {
            let too_many = || self.error(&format!("a call has {count} vectors, and must have at most {VECTOR_UPSERT}"));
            self.answer(answer.ok_or_else(too_many)?).await.map(drop)
        }
        .boxed_local()
    }

    fn delete(&self, ids: &[PassageId]) -> LocalBoxFuture<'_, Result<(), VectorIndexError>> {
        let ids: Vec<JsValue> = ids.iter().map(|id| id.to_string().into()).collect();
        async move {
            for ids in ids.chunks(VECTOR_DELETIONS) {
                self.answer(delete_by_ids(&self.binding, &ids.iter().collect())).await?;
            }
            Ok(())
        }
        .boxed_local()
    }
}
