//! Pages of the program, at paths other than that of the endpoint.

use std::future::Future;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use http::{Response, StatusCode};

use super::http_error::HttpError;
use super::stream::Body;
use super::{body, guard};
use crate::call::context::Context;
use crate::call::deadline::{DEADLINE, run_only};
use crate::call::error::{ErrorKind, HandlerError};
use crate::engine::head::BoundedRequest;
use crate::engine::limits::Limits;
use crate::host::{Request, log};
use crate::protocol::error::INTERNAL;
use crate::text::Text;

/// The method and the body of a request to a page: see [`Endpoint::page`](crate::Endpoint::page).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageRequest {
    /// The method, such as `GET`.
    pub method: String,
    /// The body. It is empty for GET and HEAD.
    pub body: Vec<u8>,
}

type PageFuture = LocalBoxFuture<'static, Result<Response<Vec<u8>>, HandlerError>>;

/// A page of the program.
pub(super) struct Page {
    pub path: Text,
    handler: Box<dyn Fn(PageRequest, Context) -> PageFuture>,
}

impl Page {
    pub(super) fn new<F, B>(path: Text, handler: impl Fn(PageRequest, Context) -> F + 'static) -> Self
    where
        F: Future<Output = Result<Response<B>, HandlerError>> + 'static,
        B: Into<Vec<u8>>,
    {
        let handler = move |request, cx| {
            handler(request, cx).map(|answer| answer.map(|response| response.map(Into::into))).boxed_local()
        };
        Self { path, handler: Box::new(handler) }
    }

    /// Answers a request.
    ///
    /// # Errors
    /// 413 if the body is too long, 408 if it does not arrive in time, 400 if it ends too early, and 503 if the memory for bodies is full.
    /// An error of the handler is a 400, 404 or 500. If the deadline passes, the error is a 500.
    pub(super) async fn answer(
        &self,
        head: &BoundedRequest,
        request: &impl Request,
        limits: &Limits,
        cx: &Context,
    ) -> Result<Response<Body>, Box<HttpError>> {
        let method = head.method();
        let is_head = method == "HEAD";
        // The handler owns the body, so its memory stays reserved until the answer.
        let (body, _reservation) = if is_head || method == "GET" {
            (Vec::new(), None)
        } else {
            let announced = guard::announced_length(head, limits.body)?;
            let (body, reservation) = body::read(request, announced, limits, cx.now_ms(), cx.host()).await?;
            (body, Some(reservation))
        };
        let work = (self.handler)(PageRequest { method, body }, cx.clone());
        let answer = run_only(cx, DEADLINE, &self.path, work).await;
        match answer.map_err(|error| HttpError::rpc(StatusCode::INTERNAL_SERVER_ERROR, None, error))? {
            // A host can send only the statuses from 200 to 599. With 204, 205 and 304, it cannot send a body.
            Ok(response) => match response.status().as_u16() {
                status @ 200..=599 => {
                    let has_body = !is_head && !matches!(status, 204 | 205 | 304);
                    Ok(response.map(|body| Body::Bytes(if has_body { body } else { Vec::new() })))
                }
                status => {
                    let cause = format!("the page returned status {status}, which is not between 200 and 599");
                    log::failure(cx.host(), &self.path, &cause);
                    Err(HttpError::http(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL))
                }
            },
            Err(HandlerError(error)) => {
                if let Some(cause) = &error.cause {
                    log::failure(cx.host(), &self.path, cause);
                }
                let status = match error.kind {
                    ErrorKind::Failed => StatusCode::INTERNAL_SERVER_ERROR,
                    ErrorKind::Invalid => StatusCode::BAD_REQUEST,
                    ErrorKind::NotFound => StatusCode::NOT_FOUND,
                };
                Err(HttpError::http(status, error.message))
            }
        }
    }
}
