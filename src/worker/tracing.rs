//! The tracing of the Workers runtime.

use worker::js_sys::Array;
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsValue};

use crate::host::{Operation, Outcome, Span, Telemetry};

#[wasm_bindgen(module = "/src/worker/tracing.js")]
extern "C" {
    fn start(name: &str, attributes: &Array) -> JsValue;

    fn is_recorded(span: &JsValue) -> bool;

    fn end(span: &JsValue, attributes: &Array, is_error: bool);
}

/// Returns the tracing of the runtime, for [`Endpoint::telemetry`](crate::Endpoint::telemetry). It records a span for each operation. The
/// runtime decides which spans it samples, by `[observability.traces]` in wrangler.toml.
///
/// The runtime gives its spans ids of its own, and does not accept a parent from another system. So a span has the ids of the caller's trace
/// as attributes.
///
/// ```no_run
/// use edge_mcp::worker::tracing;
/// use edge_mcp::{BuildError, Endpoint, McpServer};
/// use worker::Env;
///
/// fn endpoint(env: &Env) -> Result<Endpoint, BuildError> {
///     let server = McpServer::builder("parcels", "1.0.0").build()?;
///     Ok(Endpoint::of(server).configured(env).telemetry(tracing()))
/// }
/// ```
pub fn tracing() -> impl Telemetry {
    RuntimeTracing
}

struct RuntimeTracing;

struct RuntimeSpan(JsValue);

impl Telemetry for RuntimeTracing {
    fn start(&self, operation: &Operation<'_>) -> Box<dyn Span> {
        Box::new(RuntimeSpan(start(&operation.name(), &entries(operation.attributes()))))
    }
}

impl Span for RuntimeSpan {
    fn is_recorded(&self) -> bool {
        is_recorded(&self.0)
    }

    fn end(&mut self, outcome: &Outcome) {
        end(&self.0, &entries(outcome.attributes()), outcome.error_type.is_some());
    }
}

/// Returns attributes as an array of pairs.
fn entries(attributes: Vec<(&'static str, String)>) -> Array {
    let pair = |(name, value): (&'static str, String)| Array::<JsValue>::of(&[name.into(), value.into()]);
    attributes.into_iter().map(pair).collect()
}
