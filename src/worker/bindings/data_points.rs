//! Workers Analytics Engine: a data point for each operation.

use worker::Env;
use worker::js_sys::Array;
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsValue};

use super::{BindingKind, binding};
use crate::config::ConfigError;
use crate::host::{Operation, Outcome, Span, Telemetry};

/// The longest index that the platform accepts, in bytes. The names of tools of other servers can be longer.
const INDEX: usize = 96;

const DATASET: BindingKind = BindingKind {
    method: "writeDataPoint",
    section: "[[analytics_engine_datasets]]",
    settings: "`binding` and `dataset`",
};

#[wasm_bindgen(module = "/src/worker/bindings/data_points.js")]
extern "C" {
    fn write(dataset: &JsValue, index: &str, blobs: &Array, ms: f64);
}

/// Returns the dataset of a binding, such as `CALLS`, for [`Endpoint::telemetry`](crate::Endpoint::telemetry). It gets a data point for each
/// operation:
///
/// | column | content |
/// |---|---|
/// | `index1` | the name of the operation, such as `tools/call get-weather` |
/// | `blob1` | the method |
/// | `blob2` | the tool or prompt |
/// | `blob3` | the protocol revision |
/// | `blob4` | the name of the other server, if the MCP client sent the request |
/// | `blob5` | the kind of the failure |
/// | `double1` | the duration in milliseconds |
///
/// # Errors
/// wrangler.toml has no such binding of `[[analytics_engine_datasets]]`.
pub fn data_points(env: &Env, name: &'static str) -> Result<impl Telemetry + use<>, ConfigError> {
    Ok(Dataset(binding(env, name, DATASET)?))
}

struct Dataset(JsValue);

/// A data point that lacks its last columns.
struct DataPoint {
    dataset: JsValue,
    index: String,
    blobs: Array,
}

impl Telemetry for Dataset {
    fn start(&self, operation: &Operation<'_>) -> Box<dyn Span> {
        let Operation { method, target, revision, upstream, .. } = *operation;
        let blobs = [method, target.unwrap_or_default(), revision, upstream.unwrap_or_default()];
        let blobs = blobs.into_iter().map(|text| JsValue::from(cut(text))).collect();
        Box::new(DataPoint { dataset: self.0.clone(), index: cut(&operation.name()).to_owned(), blobs })
    }
}

impl Span for DataPoint {
    fn is_recorded(&self) -> bool {
        false
    }

    #[allow(clippy::cast_precision_loss, reason = "a duration in milliseconds")]
    fn end(&mut self, outcome: &Outcome) {
        self.blobs.push(&outcome.error_type.as_deref().unwrap_or_default().into());
        write(&self.dataset, &self.index, &self.blobs, outcome.ms as f64);
    }
}

fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(INDEX)).unwrap_or_default()
}
