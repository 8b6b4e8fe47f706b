//! Requests to other servers, by the runtime's `fetch`.

use std::time::Duration;

use futures::future::LocalBoxFuture;
use futures::{FutureExt, StreamExt, pin_mut, select_biased};
use worker::wasm_bindgen::JsValue;
use worker::{AbortController, AbortSignal, Delay, Headers, Method, Request, RequestInit, RequestRedirect};

use super::body::read;
use super::machine::Isolate;
use crate::host::{BodyError, Fetch, FetchError, FetchLimits, Fetched};

impl Fetch for Isolate {
    fn fetch(
        &self,
        request: http::Request<String>,
        limits: FetchLimits,
    ) -> LocalBoxFuture<'static, Result<Fetched, FetchError>> {
        async move {
            let controller = AbortController::default();
            let signal = controller.signal();
            let mut pending = Pending(Some(controller));
            let answer = send(request, signal, limits.bytes).fuse();
            let late = Delay::from(limits.time).fuse();
            pin_mut!(answer, late);
            let answer = select_biased! {
                answer = answer => answer,
                () = late => Err(FetchError::TooSlow),
            };
            if answer.is_ok() {
                pending.0 = None;
            }
            answer
        }
        .boxed_local()
    }
}

/// A request without its answer. The other server need not go on with what nobody waits for any more.
struct Pending(Option<AbortController>);

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(controller) = self.0.take() {
            controller.abort();
        }
    }
}

async fn send(request: http::Request<String>, signal: AbortSignal, bytes: usize) -> Result<Fetched, FetchError> {
    let (head, body) = request.into_parts();
    let failed = |error: worker::Error| FetchError::Failed(error.to_string());
    let headers = Headers::new();
    for (name, value) in &head.headers {
        let value = value.to_str().map_err(|error| FetchError::Failed(error.to_string()))?;
        headers.append(name.as_str(), value).map_err(failed)?;
    }
    let mut init = RequestInit::new();
    init.with_method(Method::from(head.method.as_str().to_owned())).with_headers(headers);
    // What is sent to one server, a token among it, is for no other.
    init.with_redirect(RequestRedirect::Manual);
    if !body.is_empty() {
        init.with_body(Some(JsValue::from_str(&body)));
    }
    let request = Request::new_with_init(&head.uri.to_string(), &init).map_err(failed)?;
    let mut response = worker::Fetch::Request(request).send_with_signal(&signal).await.map_err(failed)?;
    let status = response.status_code();
    // Each header is asked of JavaScript, so that it is only asked where it can be.
    let may_say_when = status == 429 || status >= 500;
    let seconds = may_say_when.then(|| response.headers().get("retry-after").ok().flatten()).flatten();
    let retry_after = seconds.and_then(|seconds| seconds.trim().parse().ok()).map(Duration::from_secs);
    let body = match response.stream() {
        Ok(chunks) => read(chunks.map(|chunk| chunk.map_err(|error| error.to_string())), bytes).await,
        // An answer without a body has no stream.
        Err(_) => Ok(Vec::new()),
    };
    match body {
        Ok(body) => Ok(Fetched { retry_after, ..Fetched::new(status, body) }),
        Err(BodyError::TooLarge) => Err(FetchError::TooLarge),
        Err(BodyError::Broken(cause)) => Err(FetchError::Failed(cause)),
    }
}
