//! A request whose parameters are read, on its way to its response.
//!
//! Everything that needs the request happens before a [`Prepared`] exists, or in [`Prepared::detach`]. What remains owns all that it
//! needs, so that a call that waits holds neither its body nor the parsed document.

use std::panic::AssertUnwindSafe;
use std::task::Poll;

use futures::future::LocalBoxFuture;
use futures::{FutureExt, poll};

use super::request_state::belonging;
use super::{Call, Outcome, input_required, too_long};
use crate::call::context::Context;
use crate::protocol::error::RpcError;
use crate::protocol::message::Request;
use crate::protocol::revision::Era;

/// What a method ends with, if it does not fail.
pub(super) enum Reply {
    /// The bytes of the response.
    Response(Vec<u8>),
    /// The handler has asked the client for input.
    Asks,
}

/// A handler at work, and the making of its response.
pub(super) type Work = LocalBoxFuture<'static, Result<Reply, RpcError>>;

/// How far a method has come when its parameters are read.
pub(super) enum Stage {
    Ended(Result<Reply, RpcError>),
    Working(Work),
}

/// A request whose parameters are read.
pub(crate) struct Prepared {
    call: Call,
    stage: Stage,
    /// The digest of the request that a request state carries, once the request is detached and if the call can still ask.
    digest: Option<String>,
}

impl Prepared {
    pub(super) fn new(call: Call, stage: Stage) -> Self {
        Self { call, stage, digest: None }
    }

    /// The context of the call.
    pub(crate) fn cx(&self) -> &Context {
        &self.call.cx
    }

    /// Runs the handler until it first waits. Most handlers are done by then.
    ///
    /// The task that calls this must also call [`finish`](Self::finish): a future may keep the waker of its first poll.
    pub(crate) async fn start(&mut self) {
        if let Stage::Working(work) = &mut self.stage
            && let Poll::Ready(reply) = poll!(AssertUnwindSafe(work).catch_unwind())
        {
            self.stage = Stage::Ended(reply.unwrap_or_else(|_| Err(RpcError::internal())));
        }
    }

    /// Keeps what a question to the client needs of `request`, which can be dropped afterwards.
    pub(crate) fn detach(&mut self, request: &Request<'_>) {
        let can_ask = match &self.stage {
            Stage::Working(_) | Stage::Ended(Ok(Reply::Asks)) => true,
            Stage::Ended(_) => false,
        };
        // Older revisions cannot ask. Without keys a question fails before it needs the digest.
        if can_ask && self.call.cx.revision().era() == Era::Modern && self.call.keys.is_ok() {
            self.digest = Some(belonging(&self.call.cx, request));
        }
    }

    /// Runs the handler to its end, and gives the response.
    pub(crate) async fn finish(self) -> Outcome {
        let Self { call, stage, digest } = self;
        let reply = match stage {
            Stage::Ended(reply) => reply,
            // In a program that unwinds, a panic costs this response and nothing else.
            Stage::Working(work) => {
                AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| Err(RpcError::internal()))
            }
        };
        match reply? {
            Reply::Response(response) => Ok(response),
            Reply::Asks => input_required::ask(&call, digest),
        }
        .and_then(|response| within_limit(&call, response))
    }
}

/// The response, or what takes its place if it is longer than the limit.
pub(super) fn within_limit(call: &Call, response: Vec<u8>) -> Outcome {
    if response.len() > call.limits.response { too_long(call, response.len()) } else { Ok(response) }
}
