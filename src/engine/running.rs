//! A call that runs, and its answer.
//!
//! After a [`Running`] is created, only [`Running::detach`] uses the request. A [`Running`] owns its data, so a call that waits does not
//! keep the request body or the parsed document in memory.

use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::task::Poll;

#[cfg(feature = "tasks")]
use edge_json::write;
use futures::future::LocalBoxFuture;
use futures::{FutureExt, poll};
#[cfg(feature = "tasks")]
use serde_json::value::RawValue;

use super::call::{MethodCall, MethodResponse};
use super::memory::Reservation;
use super::request_state::request_digest;
use super::{envelope, input_required};
use crate::call::connection::ClientConnection;
use crate::call::context::Context;
use crate::call::notifications::Notifications;
use crate::call::result::ToolResult;
use crate::protocol::error::{ErrorCode, RpcError};
#[cfg(feature = "tasks")]
use crate::protocol::message::result_in;
use crate::protocol::message::{Request, error_response};
use crate::protocol::method::Method;
use crate::protocol::revision::Era;
use crate::server::tool::Tool;

/// A future that runs a handler and creates its response. The response is `None` if the handler waits for an answer of the client, or for a
/// later attempt of its durable task.
pub(super) type Work = LocalBoxFuture<'static, Result<Option<Vec<u8>>, RpcError>>;

/// The state of a method after its parameters are read.
pub(super) enum RunState {
    Ended(Result<Option<Vec<u8>>, RpcError>),
    Working(Work),
}

/// A call whose parameters are read.
pub(crate) struct Running {
    pub(super) call: MethodCall,
    pub(super) state: RunState,
    /// The tool that runs, for the log.
    pub tool: Option<Rc<Tool>>,
    /// The other end of the notifications, if the answer can be a stream.
    pub receiver: Option<NotificationReceiver>,
    /// The digest of the request, for the request state. [`detach`](Self::detach) sets it if the call can still ask.
    pub(super) digest: Option<String>,
}

/// The other end of the notifications of a call.
pub(crate) struct NotificationReceiver {
    pub notifications: Notifications,
    /// Tells the handler that the client has disconnected.
    pub connection: Rc<ClientConnection>,
}

/// The answer to a request.
pub(crate) struct Answer {
    /// The JSON-RPC response.
    pub message: Vec<u8>,
    /// The code of the error, if the response is an error.
    pub error: Option<ErrorCode>,
    /// The memory for the message while it waits.
    pub memory: Option<Reservation>,
}

impl Running {
    /// Returns the context of the call.
    pub(crate) fn cx(&self) -> &Context {
        &self.call.cx
    }

    /// Polls the handler once. Most handlers finish without waiting.
    ///
    /// The same task must call [`finish`](Self::finish), because some futures keep the waker of their first poll.
    pub(crate) async fn first_poll(&mut self) {
        if let RunState::Working(work) = &mut self.state
            && let Poll::Ready(ended) = poll!(AssertUnwindSafe(work).catch_unwind())
        {
            self.state = RunState::Ended(ended.unwrap_or_else(|_| Err(RpcError::internal())));
        }
    }

    /// Stores the digest of `request`, which the request state of a question needs. Afterwards, the caller can drop `request`.
    pub(crate) fn detach(&mut self, request: &Request<'_>) {
        let can_ask = match &self.state {
            RunState::Working(_) | RunState::Ended(Ok(None)) => true,
            RunState::Ended(_) => false,
        };
        let cx = &self.call.cx;
        // Older revisions have no input requests. Without keys, a question fails before it needs the digest.
        if can_ask && cx.revision().era() == Era::Modern && cx.request().state_keys().is_some() {
            self.digest = Some(request_digest(cx, request));
        }
    }

    /// Runs the handler to its end. If the answer can wait for a batch or a client, all answers that wait may have `waiting` bytes together.
    pub(crate) async fn finish(self, waiting: Option<usize>) -> Answer {
        let Self { call, state, digest, .. } = self;
        let response = match ended(state).await {
            Ok(Some(response)) => Ok(response),
            Ok(None) => input_required::ask(&call, digest),
            Err(error) => Err(error),
        };
        let response = response.and_then(|response| within_limit(&call, response));
        end_span(&call, response.as_ref().err());
        let response = response.and_then(|message| {
            let now_ms = call.cx.now_ms();
            let memory = waiting.map(|limit| Reservation::of_answer(message.len(), limit, now_ms)).transpose();
            let full = "The memory of this server for answers is full, so the answer of this call is lost. The call may have had effects.";
            memory.map(|memory| (message, memory)).map_err(|_| RpcError::new(ErrorCode::Internal, full))
        });
        match response {
            Ok((message, memory)) => Answer { message, error: None, memory },
            Err(error) => {
                let message = error_response(Some(call.cx.request_id()), &error);
                Answer { message, error: Some(error.code), memory: None }
            }
        }
    }

    /// Runs the handler of a durable task. Returns its result, or `None` if the handler waits for a later attempt.
    #[cfg(feature = "tasks")]
    pub(crate) async fn finish_attempt(self) -> Option<Result<Box<RawValue>, RpcError>> {
        let Self { call, state, .. } = self;
        let response =
            ended(state).await.and_then(|response| response.map(|bytes| within_limit(&call, bytes)).transpose());
        end_span(&call, response.as_ref().err());
        let id = call.cx.request_id();
        let result = |response| result_in(id, response).map(write::raw_value).ok_or_else(RpcError::internal);
        response.transpose().map(|response| response.and_then(result))
    }
}

/// Ends the span of a request, with the error of its response.
fn end_span(call: &MethodCall, error: Option<&RpcError>) {
    if let Some(trace) = call.cx.trace() {
        trace.end(error.map(|error| error.code));
    }
}

/// Runs a method to its end.
async fn ended(state: RunState) -> Result<Option<Vec<u8>>, RpcError> {
    match state {
        RunState::Ended(ended) => ended,
        // If the program unwinds on panic, a panic fails only this request.
        RunState::Working(work) => {
            AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| Err(RpcError::internal()))
        }
    }
}

/// Returns the response, or an error if it exceeds the limit.
pub(super) fn within_limit(call: &MethodCall, response: Vec<u8>) -> MethodResponse {
    if response.len() > call.response_limit { too_long(call, response.len()) } else { Ok(response) }
}

/// Returns the response that replaces a response of `length` bytes, which is too long.
#[cold]
#[inline(never)]
fn too_long(call: &MethodCall, length: usize) -> MethodResponse {
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
