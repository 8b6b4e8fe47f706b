//! Requests with parsed parameters, and the creation of their responses.
//!
//! After a [`Prepared`] is created, only [`Prepared::detach`] uses the request. A [`Prepared`] owns its data, so a call that waits does not
//! keep the request body or the parsed document in memory.

use std::panic::AssertUnwindSafe;
use std::task::Poll;

use futures::future::LocalBoxFuture;
use futures::{FutureExt, poll};

use super::call::{Call, MethodResponse};
use super::request_state::request_digest;
use super::{envelope, input_required};
use crate::call::context::Context;
use crate::call::result::ToolResult;
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::message::Request;
use crate::protocol::method::Method;
use crate::protocol::revision::Era;

/// The outcome of a method that succeeds.
pub(super) enum Outcome {
    /// The bytes of the response.
    Response(Vec<u8>),
    /// The handler waits for an answer of the client, or for a later attempt of its durable task.
    Waits,
}

/// A future that runs a handler and creates its response.
pub(super) type Work = LocalBoxFuture<'static, Result<Outcome, RpcError>>;

/// The state of a method after its parameters are read.
pub(super) enum Stage {
    Ended(Result<Outcome, RpcError>),
    Working(Work),
}

/// A request with parsed parameters.
pub(crate) struct Prepared {
    call: Call,
    stage: Stage,
    /// The digest of the request, for the request state. [`detach`](Self::detach) sets it if the call can still ask.
    digest: Option<String>,
}

impl Prepared {
    pub(super) fn new(call: Call, stage: Stage) -> Self {
        Self { call, stage, digest: None }
    }

    /// Returns the context of the call.
    pub(crate) fn cx(&self) -> &Context {
        &self.call.cx
    }

    /// Polls the handler once. Most handlers finish without waiting.
    ///
    /// The same task must call [`finish`](Self::finish), because some futures keep the waker of their first poll.
    pub(crate) async fn start(&mut self) {
        if let Stage::Working(work) = &mut self.stage
            && let Poll::Ready(reply) = poll!(AssertUnwindSafe(work).catch_unwind())
        {
            self.stage = Stage::Ended(reply.unwrap_or_else(|_| Err(RpcError::internal())));
        }
    }

    /// Stores the digest of `request`, which the request state of a question needs. Afterwards, the caller can drop `request`.
    pub(crate) fn detach(&mut self, request: &Request<'_>) {
        let can_ask = match &self.stage {
            Stage::Working(_) | Stage::Ended(Ok(Outcome::Waits)) => true,
            Stage::Ended(_) => false,
        };
        // Older revisions have no input requests. Without keys, a question fails before it needs the digest.
        if can_ask && self.call.cx.revision().era() == Era::Modern && self.call.keys.is_ok() {
            self.digest = Some(request_digest(&self.call.cx, request));
        }
    }

    /// Runs the handler to its end, and returns the response.
    pub(crate) async fn finish(self) -> MethodResponse {
        let Self { call, stage, digest } = self;
        let response = match ended(stage).await {
            Ok(Outcome::Response(response)) => Ok(response),
            Ok(Outcome::Waits) => input_required::ask(&call, digest),
            Err(error) => Err(error),
        };
        let response = response.and_then(|response| within_limit(&call, response));
        end_span(&call, response.as_ref().err());
        response
    }

    /// Runs the handler of a durable task. Returns the response, or `None` if the handler waits for a later attempt.
    pub(crate) async fn attempt(self) -> Option<MethodResponse> {
        let Self { call, stage, .. } = self;
        let response = match ended(stage).await {
            Ok(Outcome::Response(response)) => Some(within_limit(&call, response)),
            Ok(Outcome::Waits) => None,
            Err(error) => Some(Err(error)),
        };
        end_span(&call, response.as_ref().and_then(|response| response.as_ref().err()));
        response
    }
}

/// Ends the span of a request, with the error of its response.
fn end_span(call: &Call, error: Option<&RpcError>) {
    if let Some(trace) = call.cx.trace() {
        trace.end(error.map(|error| error.code));
    }
}

/// Runs a method to its end.
async fn ended(stage: Stage) -> Result<Outcome, RpcError> {
    match stage {
        Stage::Ended(reply) => reply,
        // If the program unwinds on panic, a panic fails only this request.
        Stage::Working(work) => {
            AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| Err(RpcError::internal()))
        }
    }
}

/// Returns the response, or an error if it exceeds the limit.
pub(super) fn within_limit(call: &Call, response: Vec<u8>) -> MethodResponse {
    if response.len() > call.response_limit { too_long(call, response.len()) } else { Ok(response) }
}

/// Returns the response that replaces a response of `length` bytes, which is too long.
#[cold]
#[inline(never)]
fn too_long(call: &Call, length: usize) -> MethodResponse {
    let message = format!(
        "The answer must have at most {} bytes (got {length}). Ask for less in one request.",
        call.response_limit
    );
    if call.method == Some(Method::CallTool) {
        // A model sees only results, so the error is a result with `isError`.
        call.record_tool_error();
        return envelope::complete(call, ToolResult::failure(message));
    }
    Err(RpcError::new(ErrorCode::Internal, message))
}
