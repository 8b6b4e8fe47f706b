//! Requests to other servers whose responses are read in parts, with the `fetch` of the runtime or of a service binding.

use futures::stream::{LocalBoxStream, StreamExt, unfold};
use http::{HeaderMap, HeaderName, HeaderValue};
use worker::js_sys::futures::JsFuture;
use worker::js_sys::{Array, Promise, Uint8Array};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsCast, JsValue};

use super::fetch::failed;
use super::response::pairs;
use crate::host::{FetchError, Opened};

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
    ) -> Promise;

    #[wasm_bindgen(method)]
    fn next(this: &Exchange) -> Promise;

    #[wasm_bindgen(method)]
    fn abort(this: &Exchange);
}

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
pub(super) async fn open(service: JsValue, request: http::Request<String>) -> Result<Opened, FetchError> {
    let exchange = Pending(Exchange::new());
    let (head, body) = request.into_parts();
    let body = (!body.is_empty()).then_some(body);
    let (url, method) = (head.uri.to_string(), head.method.as_str());
    let answer = exchange.0.open(&service, &url, method, &pairs(&head.headers), body);
    let answer = Array::from(&JsFuture::from(answer).await.map_err(|error| failed(&error))?);
    // A status is an integer with three digits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let status = answer.get(0).as_f64().unwrap_or_default() as u16;
    let headers = headers(&answer.get(1).as_string().unwrap_or_default());
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

/// Reads headers from lines of `name:value`. Lines that are not a header are omitted, and so are headers beyond the capacity of the map.
///
/// A value may have characters beyond ASCII. `HeaderValue::to_str` then fails, so the client ignores the header.
fn headers(lines: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_bytes(value.as_bytes()))
        else {
            continue;
        };
        if headers.try_append(name, value).is_err() {
            break;
        }
    }
    headers
}
