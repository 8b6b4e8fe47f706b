//! The cancellation of a task at another server.
//!
//! Source: the extension io.modelcontextprotocol/tasks for 2026-07-28, "Task Cancellation".

use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::select;

use super::waiting::continues_later;
use crate::call::context::Context;
use crate::client::error::{ClientError, Failure};
use crate::client::remote_task::RemoteTask;
use crate::client::session::outgoing::Outgoing;
use crate::client::session::request::Session;
use crate::client::wire::message::Params;
use crate::client::wire::task;
use crate::limits::UPSTREAM_CLOSING_SECONDS;
use crate::protocol::error::ErrorCode;

const CLOSING: Duration = Duration::from_secs(UPSTREAM_CLOSING_SECONDS);

/// Creates a request about a task.
pub(super) fn request(method: &'static str, remote: &RemoteTask, params: Params, timeout: Duration) -> Outgoing {
    let mut outgoing = Outgoing::of_extension(method.into(), params.with_text(task::ID, remote.id()), timeout);
    outgoing.target = Some(remote.id().to_owned());
    // None of the three methods has a further effect when it is repeated.
    outgoing.is_repeatable = true;
    outgoing
}

/// Returns the error of a request about a task. A server that does not know the task says so with the code for invalid parameters.
pub(super) fn unknown(error: ClientError) -> ClientError {
    match error.failure() {
        Failure::Rpc { code, .. } if *code == UNKNOWN => {
            let shown = error.failure().to_string();
            error.with_failure(Failure::TaskUnknown).because(shown)
        }
        _ => error,
    }
}

const UNKNOWN: i64 = ErrorCode::InvalidParams.number() as i64;

/// A task that has not ended. If the program drops its call, the result cannot be requested, so the client asks the server to cancel the task.
///
/// If the call is dropped because the caller of this program is asked, the task continues, and the next round waits for it again.
pub(super) struct Unfinished {
    session: Rc<Session>,
    cx: Context,
    is_kept: bool,
    cancellation: Option<Outgoing>,
}

impl Unfinished {
    /// Creates the cancellation of a task of the call of `cx`. `is_kept` says whether a later round knows the task.
    pub(super) fn new(session: &Rc<Session>, remote: &RemoteTask, cx: &Context, is_kept: bool) -> Self {
        let cancellation = request(task::CANCEL, remote, Params::default(), CLOSING);
        Self { session: session.clone(), cx: cx.clone(), is_kept, cancellation: Some(cancellation) }
    }

    /// Drops the cancellation: the task has ended, or the program gets it.
    pub(super) fn forget(&mut self) {
        self.cancellation = None;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let Some(mut cancellation) = self.cancellation.take() else { return };
        if self.is_kept && continues_later(&self.cx) {
            return;
        }
        let session = self.session.clone();
        session.channel.of_call().permit_one();
        let closing = session.channel.host().sleep(CLOSING);
        // The answer does not matter: a server may also finish the task.
        let cancelling = async move { drop(session.exchange(&mut cancellation).await) };
        self.session.channel.host().spawn(select(cancelling.boxed_local(), closing).map(drop).boxed_local());
    }
}
