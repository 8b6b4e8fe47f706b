//! Requests to other servers, with the `fetch` of the runtime or of a service binding.

use futures::stream::{LocalBoxStream, StreamExt, unfold};
use http::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue};
use worker::js_sys::futures::JsFuture;
use worker::js_sys::{Array, Promise, Uint8Array};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsCast, JsValue};

use super::response::pair;
use crate::host::{FetchError, Opened, Outbound};

#[wasm_bindgen(module = "/src/worker/open.js")]
extern "C" {
    type Exchange;

    #[wasm_bindgen(constructor)]
    fn new() -> Exchange;

    #[wasm_bindgen(method)]
    fn open(
        this: &Exchange,
        service: &JsValue,
        url: &str,
        method: &str,
        headers: &Array,
        body: Option<String>,
        names: &Array,
    ) -> Promise;

    #[wasm_bindgen(method)]
    fn next(this: &Exchange) -> Promise;

    #[wasm_bindgen(method)]
    fn abort(this: &Exchange);
}

/// The headers of a response that the core reads.
const HEADERS: [HeaderName; 5] =
    [CONTENT_TYPE, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE, HeaderName::from_static("mcp-session-id")];

/// An exchange. Dropping it aborts the request, unless the body has ended.
struct Pending(Exchange);

impl Drop for Pending {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Sends `request` to a service binding, or to the network if `service` is undefined. Returns the head of the response.
///
/// Dropping the future or the response aborts the request.
pub(super) async fn open(service: JsValue, request: Outbound) -> Result<Opened, FetchError> {
    let exchange = Pending(Exchange::new());
    let Outbound { method, url, headers: sent, body } = request;
    let pairs = Array::new();
    for (name, value) in &sent {
        let not_ascii = |_| FetchError::Failed(format!("the value of the header `{name}` is not ASCII"));
        pairs.push(&pair(name, value.to_str().map_err(not_ascii)?));
    }
    let body = (!body.is_empty()).then_some(body);
    let names: Array = HEADERS.into_iter().map(|name| JsValue::from_str(name.as_str())).collect();
    let answer = exchange.0.open(&service, &url, method.as_str(), &pairs, body, &names);
    let answer = Array::from(&JsFuture::from(answer).await.map_err(|error| failed(&error))?);
    // A status is an integer with three digits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let status = answer.get(0).as_f64().unwrap_or_default() as u16;
    let headers = headers(&Array::from(&answer.get(1)));
    Ok(Opened { status, headers, body: body_of(exchange) })
}

/// Returns the rest of the body. After an error, the stream has ended.
fn body_of(exchange: Pending) -> LocalBoxStream<'static, Result<Vec<u8>, FetchError>> {
    let chunks = unfold(Some(exchange), |exchange| async {
        let exchange = exchange?;
        match JsFuture::from(exchange.0.next()).await {
            Ok(chunk) if chunk.is_undefined() => None,
            Ok(chunk) => match chunk.dyn_into::<Uint8Array>() {
                Ok(chunk) => Some((Ok(chunk.to_vec()), Some(exchange))),
                Err(other) => Some((Err(failed(&other)), None)),
            },
            Err(error) => Some((Err(failed(&error)), None)),
        }
    });
    chunks.boxed_local()
}

/// Returns the [`HEADERS`] of a response from their values. An absent header is null. Values with characters beyond ASCII are left out.
fn headers(values: &Array) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in HEADERS.into_iter().zip(values.iter()) {
        if let Some(Ok(value)) = value.as_string().map(|value| HeaderValue::from_str(&value)) {
            headers.insert(name, value);
        }
    }
    headers
}

pub(super) fn failed(error: &JsValue) -> FetchError {
    FetchError::Failed(format!("{error:?}"))
}
