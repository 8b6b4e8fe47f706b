//! The body of a request: the memory for it, the time limit, and the error for a body that is not JSON.

use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use edge_json::JsonError;
use futures::FutureExt;
use futures::future::{Either, select};
use http::StatusCode;
use http::header::{HeaderValue, RETRY_AFTER};

use super::guard;
use super::http_error::HttpError;
use crate::engine::limits::Limits;
use crate::engine::memory::Reservation;
use crate::host::{self, BodyError, Host, log};
use crate::limits::BODY_SECONDS;
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::message::RequestId;

/// The time in seconds after which a client may try again if the memory for bodies is full.
const RETRY_AFTER_SECONDS: u64 = 1;

/// Reserves memory for the body, and reads it. Without an `announced` length, it reserves the maximum size of a body.
pub(super) async fn read(
    request: &impl host::Request,
    announced: Option<usize>,
    limits: &Limits,
    now_ms: u64,
    host: &Rc<dyn Host>,
) -> Result<(Vec<u8>, Reservation), Box<HttpError>> {
    let Limits { body: most, in_flight, .. } = *limits;
    let mut reservation = Reservation::new(announced.unwrap_or(most), in_flight, now_ms).map_err(|_| memory_full())?;
    let body = in_time(request.body(most), host).await?.map_err(|error| match error {
        BodyError::TooLarge => guard::too_large(most),
        BodyError::Broken(cause) => {
            log::failure(host, "body", &cause);
            HttpError::http(StatusCode::BAD_REQUEST, "The body ended before it was complete.")
        }
    })?;
    reservation.set(body.len());
    Ok((body, reservation))
}

/// Returns the 503 with `Retry-After` for a body for which no memory is left.
fn memory_full() -> Box<HttpError> {
    let message = "The memory of this server for request bodies is full. Try again in 1 s.";
    let error = RpcError::new(ErrorCode::Internal, message);
    let mut refusal = HttpError::rpc(StatusCode::SERVICE_UNAVAILABLE, None, error);
    refusal.headers.insert(RETRY_AFTER, HeaderValue::from(RETRY_AFTER_SECONDS));
    refusal
}

/// Returns the 400 for a body that is not JSON or exceeds the limits on JSON. In the second case, the id of the request may still
/// be readable.
#[cold]
#[inline(never)]
pub(super) fn not_json(body: &[u8], error: &JsonError) -> Box<HttpError> {
    let id = RequestId::of_rejected(body);
    let code = match error {
        JsonError::NotUtf8 | JsonError::Syntax { .. } => ErrorCode::Parse,
        _ => ErrorCode::InvalidRequest,
    };
    HttpError::message(id, RpcError::new(code, format!("The message cannot be read: {error}.")))
}

/// Waits for a body, at most [`BODY_SECONDS`]. Most bodies are ready at the first poll, so they do not need a timer.
async fn in_time<T>(reading: impl Future<Output = T>, host: &Rc<dyn Host>) -> Result<T, Box<HttpError>> {
    let mut reading = pin!(reading);
    if let Poll::Ready(body) = futures::poll!(&mut reading) {
        return Ok(body);
    }
    let late = async {
        match select(reading, host.sleep(Duration::from_secs(BODY_SECONDS))).await {
            Either::Left((body, _)) => Ok(body),
            Either::Right(_) => Err(HttpError::http(
                StatusCode::REQUEST_TIMEOUT,
                format!("The body did not arrive within {BODY_SECONDS} s. Send the request again."),
            )),
        }
    };
    late.boxed_local().await
}
