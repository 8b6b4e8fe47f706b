//! The conversion of a reply to a response of the Workers runtime.

use futures::StreamExt;
use http::HeaderMap;
use worker::js_sys::{Array, JsString};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsValue};
use worker::{ResponseBuilder, web_sys};

use crate::http::reply::Reply;
use crate::http::stream::Body;

#[wasm_bindgen(module = "/src/worker/entry.js")]
extern "C" {
    #[wasm_bindgen(js_name = respond)]
    fn respond_json(status: u16, bytes: &[u8]) -> web_sys::Response;
    #[wasm_bindgen(js_name = respond)]
    fn respond_with(status: u16, bytes: &[u8], headers: &Array) -> web_sys::Response;
}

/// Converts a reply.
///
/// # Errors
/// Fails if the runtime cannot create a stream.
pub(super) fn respond(reply: Reply) -> Result<web_sys::Response, JsValue> {
    let response = match reply {
        // JavaScript adds the headers, which are the same for every JSON reply.
        Reply::Json(status, document) => return Ok(respond_json(status.as_u16(), &document)),
        Reply::Other(response) => response,
    };
    let (head, body) = response.into_parts();
    let status = head.status.as_u16();
    match body {
        Body::Bytes(bytes) => Ok(respond_with(status, &bytes, &pairs(&head.headers))),
        Body::Stream(events) => {
            let headers = web_sys::Headers::new_with_str_sequence_sequence(&pairs(&head.headers))?;
            let response = ResponseBuilder::new().with_status(status).with_headers(worker::Headers(headers));
            let response = response.from_stream(events.map(Ok::<_, worker::Error>));
            response.map(web_sys::Response::from).map_err(JsValue::from)
        }
    }
}

/// Returns the headers as pairs. Values that are not ASCII are omitted. The code that sets a value ensures that it is ASCII.
pub(super) fn pairs(headers: &HeaderMap) -> Array {
    headers.iter().filter_map(|(name, value)| Some(pair(name.as_str(), value.to_str().ok()?))).collect()
}

pub(super) fn pair(name: &str, value: &str) -> Array {
    Array::of2(&JsString::from(name), &JsString::from(value))
}
