//! Requests to other servers, with the `fetch` of the runtime.

use std::time::Duration;

use futures::{FutureExt, pin_mut, select_biased};
use worker::js_sys::futures::JsFuture;
use worker::js_sys::{Array, Promise, Uint8Array};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsCast, JsValue};
use worker::{Delay, web_sys};

use super::response::pairs;
use crate::host::{FetchError, FetchLimits, Fetched};

#[wasm_bindgen(module = "/src/worker/fetch.js")]
extern "C" {
    fn ask(
        url: &str,
        method: &str,
        headers: &Array,
        body: Option<String>,
        limit: u32,
        signal: &web_sys::AbortSignal,
    ) -> Promise;
}

/// Sends `request` and reads the response. Dropping the future aborts the request.
pub(super) async fn fetch(request: http::Request<String>, limits: FetchLimits) -> Result<Fetched, FetchError> {
    let mut pending = Pending(Some(web_sys::AbortController::new().map_err(|error| failed(&error))?));
    let answer = send(request, limits.bytes, &pending).fuse();
    let late = Delay::from(limits.time).fuse();
    let answer = {
        pin_mut!(answer, late);
        select_biased! {
            answer = answer => answer,
            () = late => Err(FetchError::TooSlow),
        }
    };
    if answer.is_ok() {
        pending.0 = None;
    }
    answer
}

/// A request without a response yet. Dropping it aborts the request.
struct Pending(Option<web_sys::AbortController>);

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(controller) = self.0.take() {
            controller.abort();
        }
    }
}

pub(super) fn failed(error: &JsValue) -> FetchError {
    FetchError::Failed(format!("{error:?}"))
}

async fn send(
    request: http::Request<String>,
    bytes: usize,
    Pending(controller): &Pending,
) -> Result<Fetched, FetchError> {
    let signal = controller.as_ref().map(web_sys::AbortController::signal).ok_or(FetchError::TooSlow)?;
    let (head, body) = request.into_parts();
    let body = (!body.is_empty()).then_some(body);
    let (url, method) = (head.uri.to_string(), head.method.as_str());
    let answer = ask(&url, method, &pairs(&head.headers), body, u32::try_from(bytes).unwrap_or(u32::MAX), &signal);
    let answer = Array::from(&JsFuture::from(answer).await.map_err(|error| failed(&error))?);
    let body = answer.get(2).dyn_into::<Uint8Array>().map_err(|_| FetchError::TooLarge)?;
    // A status is an integer with three digits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let status = answer.get(0).as_f64().unwrap_or_default() as u16;
    let retry_after =
        answer.get(1).as_string().and_then(|seconds| seconds.trim().parse().ok()).map(Duration::from_secs);
    Ok(Fetched { retry_after, ..Fetched::new(status, body.to_vec()) })
}
