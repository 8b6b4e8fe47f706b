//! The requests about a task of another server, and its cancellation.
//!
//! Source: the extension io.modelcontextprotocol/tasks for 2026-07-28, "Task Cancellation".

use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::select;

use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::journal::JournalError;
use crate::call::rounds::Obstacle;
use crate::client::connection::Peer;
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Failure};
use crate::client::remote_task::RemoteTask;
use crate::client::session::remote_request::RemoteRequest;
use crate::client::wire::message::Params;
use crate::client::wire::task;
use crate::limits::UPSTREAM_CLOSING_SECONDS;
use crate::protocol::error::ErrorCode;
use crate::protocol::method::Method;

const CLOSING: Duration = Duration::from_secs(UPSTREAM_CLOSING_SECONDS);

/// Creates a request about a task.
pub(super) fn task_request(
    remote: &RemoteTask,
    method: &'static str,
    params: Params,
    timeout: Duration,
) -> RemoteRequest {
    RemoteRequest {
        // None of the three methods has a further effect when it is repeated.
        is_repeatable: true,
        ..RemoteRequest::with_effects(method, params.with_text(task::ID, remote.id()), timeout).with_target(remote.id())
    }
}

/// Checks that a task belongs to the server of a conversation.
pub(super) fn check_server(remote: &RemoteTask, conversation: &Conversation) -> Result<(), ClientError> {
    if remote.server() == conversation.server.name {
        return Ok(());
    }
    Err(Failure::Local("was not called: the task belongs to another server.".into()).into())
}

impl Peer {
    /// Asks the server to cancel a task. The task may still end in another way.
    ///
    /// # Errors
    /// The server cannot be asked, or it does not know the task.
    pub async fn cancel_task(&self, remote: &RemoteTask) -> Result<(), ClientError> {
        check_server(remote, &self.0).map_err(self.0.error_of(Method::CallTool.name()))?;
        let cancellation = task_request(remote, task::CANCEL, Params::default(), self.0.server.upstream.timeout);
        self.0.result(&cancellation).await.map(drop).map_err(unknown)
    }
}

/// Returns the error of a request about a task. A server that does not know the task says so with the code for invalid parameters.
pub(super) fn unknown(error: ClientError) -> ClientError {
    const UNKNOWN: i64 = ErrorCode::InvalidParams.number() as i64;
    match error.failure() {
        Failure::Rpc { code: UNKNOWN, .. } => {
            let problem = error.failure().to_string();
            error.with_failure(Failure::TaskUnknown).because(problem)
        }
        _ => error,
    }
}

/// A task that has not ended. If the program drops its call, the result cannot be requested, so the client asks the server to cancel the task.
///
/// If the call is dropped because the caller of this program is asked, the task continues, and the next round waits for it again.
pub(super) struct Unfinished {
    conversation: Rc<Conversation>,
    cx: Context,
    is_kept: bool,
    cancellation: Option<RemoteRequest>,
}

impl Unfinished {
    /// Creates the cancellation of a task of the call of `cx`. `is_kept` says whether a later round knows the task.
    pub(super) fn new(conversation: &Rc<Conversation>, remote: &RemoteTask, cx: &Context, is_kept: bool) -> Self {
        let cancellation = Some(task_request(remote, task::CANCEL, Params::default(), CLOSING));
        Self { conversation: conversation.clone(), cx: cx.clone(), is_kept, cancellation }
    }

    /// Drops the cancellation: the task has ended, or the program gets it.
    pub(super) fn forget(&mut self) {
        self.cancellation = None;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let Some(cancellation) = self.cancellation.take() else { return };
        if self.is_kept && continues_later(&self.cx) {
            return;
        }
        let conversation = self.conversation.clone();
        conversation.budget.permit_one();
        let closing = conversation.cx.host().sleep(CLOSING);
        // The answer does not matter: a server may also finish the task.
        let cancelling = async move { drop(conversation.send(&cancellation).await) };
        self.conversation.cx.host().spawn(select(cancelling.boxed_local(), closing).map(drop).boxed_local());
    }
}

/// Returns whether the round of our caller's request ends, so that a later round, or a later attempt of the durable task, continues the work that
/// is dropped now.
pub(super) fn continues_later(cx: &Context) -> bool {
    let (rounds, obstacle) = (cx.rounds(), cx.rounds().obstacle());
    rounds.is_waiting()
        && match rounds.journal() {
            None => obstacle.is_none(),
            Some(journal) => {
                let is_temporary = matches!(obstacle, None | Some(Obstacle::Journal(JournalError::Temporary(_))));
                is_temporary && !journal.is_cancelled()
            }
        }
}

/// Waits for the end of a round that [continues later](continues_later). The person is asked at once, although a step runs: no step begins while
/// a question is open, and a step that waits for another one does not hold the round.
pub(super) async fn end_of_round(cx: &Context) -> Result<(), HandlerError> {
    cx.step("the next round", &(), async || Ok(())).await
}
