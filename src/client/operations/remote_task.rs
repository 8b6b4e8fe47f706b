//! A task at another server: its identity, which a program can store, and its cancellation.
//!
//! Source: the extension io.modelcontextprotocol/tasks for 2026-07-28, "Task Cancellation".

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::select;
use serde::{Deserialize, Serialize};

use super::call::Call;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::journal::JournalError;
use crate::call::rounds::Obstacle;
use crate::client::connection::{Connection, Peer};
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Failure};
use crate::client::session::remote_request::RemoteRequest;
use crate::client::wire::message::Params;
use crate::client::wire::task;
use crate::limits::UPSTREAM_CLOSING_SECONDS;
use crate::protocol::error::ErrorCode;
use crate::protocol::method::Method;
use crate::text::Text;

const CLOSING: Duration = Duration::from_secs(UPSTREAM_CLOSING_SECONDS);

/// A task at another server: a call of a tool that continues there.
///
/// [`Peer::task`] waits for its result and [`Peer::cancel_task`] cancels it, also in a later request: a program can store a task as JSON. At a
/// server without authentication, the id is the only secret of the task, so debug output does not contain it.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize)]
pub struct RemoteTask {
    server: Text,
    tool: String,
    id: String,
}

impl RemoteTask {
    /// Creates the identity of the task `id` at `server`, in which the tool `tool` runs. A program that stores a task serializes it instead.
    pub fn new(server: impl Into<Text>, tool: impl Into<String>, id: impl Into<String>) -> Self {
        Self { server: server.into(), tool: tool.into(), id: id.into() }
    }

    /// Returns the name that this program has for the server.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Returns the name of the tool at the server.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the id that the server gave the task.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Creates a request about the task.
    pub(super) fn request(&self, method: &'static str, params: Params, timeout: Duration) -> RemoteRequest {
        RemoteRequest {
            target: Some(self.id.clone()),
            // None of the three methods has a further effect when it is repeated.
            is_repeatable: true,
            ..RemoteRequest::with_effects(method, params.with_text(task::ID, &self.id), timeout)
        }
    }

    /// Checks that the task belongs to the server of a conversation.
    pub(super) fn check(&self, conversation: &Conversation) -> Result<(), ClientError> {
        if self.server == conversation.server.name {
            return Ok(());
        }
        Err(Failure::Local("was not called: the task belongs to another server.".into()).into())
    }
}

impl fmt::Debug for RemoteTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteTask").field("server", &self.server).field("tool", &self.tool).finish_non_exhaustive()
    }
}

impl Connection {
    /// Continues a task of one of the servers. It sends nothing.
    ///
    /// # Errors
    /// The client has no server with the name in the task.
    pub fn task(&self, remote: &RemoteTask) -> Result<Call, ClientError> {
        Ok(self.server(remote.server())?.task(remote))
    }
}

impl Peer {
    /// Continues a task of this server, which an earlier call has begun. Its result is requested when it is awaited. Dropping it does not cancel
    /// the task.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use edge_mcp::client::{Failure, Peer, RemoteTask};
    /// use edge_mcp::HandlerError;
    /// use serde_json::json;
    ///
    /// async fn begin(depot: Peer) -> Result<Option<RemoteTask>, HandlerError> {
    ///     match depot.call("build-report", json!({ "year": 2026 })).task_timeout(Duration::from_secs(10)).await {
    ///         Ok(_) => Ok(None),
    ///         Err(error) => match error.failure() {
    ///             // Store the task as JSON.
    ///             Failure::StillRunning(task) => Ok(Some(task.clone())),
    ///             _ => Err(error.into()),
    ///         },
    ///     }
    /// }
    ///
    /// async fn finish(depot: Peer, task: RemoteTask) -> Result<String, HandlerError> {
    ///     Ok(depot.task(&task).await?.text())
    /// }
    /// ```
    pub fn task(&self, remote: &RemoteTask) -> Call {
        Call::of_task(self.0.clone(), remote.clone())
    }

    /// Asks the server to cancel a task. The task may still end in another way.
    ///
    /// # Errors
    /// The server cannot be asked, or it does not know the task.
    pub async fn cancel_task(&self, remote: &RemoteTask) -> Result<(), ClientError> {
        remote.check(&self.0).map_err(self.0.error_of(Method::CallTool.name()))?;
        let cancellation = remote.request(task::CANCEL, Params::default(), self.0.server.upstream.timeout);
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
        let cancellation = Some(remote.request(task::CANCEL, Params::default(), CLOSING));
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
