//! A task of another server that the program knows from an earlier call.

use std::future::IntoFuture;
use std::rc::Rc;
use std::time::Duration;

use edge_json::write;
use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::cancel_task::{request, unknown};
use super::definition::Definition;
use super::respondent::{Respondent, TaskWait};
use super::result::CallResult;
use super::step::step;
use super::task::result_of_known;
use crate::call::context::Context;
use crate::client::connection::{Connection, Peer};
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Failure};
use crate::client::questions::passed::{Pass, pass};
use crate::client::remote_task::RemoteTask;
use crate::client::session::remote_request::RemoteRequest;
use crate::client::wire::message::Params;
use crate::client::wire::task;
use crate::protocol::method::Method;

/// A task at another server, which [`Peer::task`] continues. Its result is requested when it is awaited.
///
/// Dropping it does not cancel the task.
#[must_use = "the result of a task is requested when it is awaited"]
pub struct RunningTask {
    conversation: Rc<Conversation>,
    remote: RemoteTask,
    timeout: Duration,
    task_timeout: Option<Duration>,
    definition: Option<Definition>,
    asks: Option<(Context, Pass)>,
}

impl Connection {
    /// Continues a task of one of the servers. It sends nothing.
    ///
    /// # Errors
    /// The client has no server with the name in the task.
    pub fn task(&self, remote: &RemoteTask) -> Result<RunningTask, ClientError> {
        Ok(self.server(remote.server())?.task(remote))
    }
}

impl Peer {
    /// Continues a task of this server, which an earlier call has begun. It sends nothing.
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
    pub fn task(&self, remote: &RemoteTask) -> RunningTask {
        RunningTask {
            conversation: self.0.clone(),
            remote: remote.clone(),
            timeout: self.0.server.upstream.timeout,
            task_timeout: None,
            definition: None,
            asks: None,
        }
    }
}

impl RunningTask {
    /// Sets the definition of the tool, as for [`Call::definition`](super::call::Call::definition).
    pub fn definition(mut self, definition: &Definition) -> Self {
        self.definition = Some(definition.clone());
        self
    }

    /// Sets the time limit of each request. By default, it is [`Upstream::timeout`](crate::client::Upstream::timeout).
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time;
        self
    }

    /// Sets the longest time to wait for the result, as for [`Call::task_timeout`](super::call::Call::task_timeout).
    pub fn task_timeout(mut self, time: Duration) -> Self {
        self.task_timeout = Some(time);
        self
    }

    /// Passes the questions of the task to the caller of `cx`, as for [`Call::ask_caller`](super::call::Call::ask_caller). The task asks only what
    /// its call permitted.
    pub fn ask_caller(mut self, cx: &Context) -> Self {
        self.asks = Some((cx.clone(), pass));
        self
    }

    /// Asks the server to cancel the task. The task may still end in another way.
    ///
    /// # Errors
    /// The server cannot be asked, or it does not know the task.
    pub async fn cancel(self) -> Result<(), ClientError> {
        self.check()?;
        let cancellation = request(task::CANCEL, &self.remote, Params::default(), self.timeout);
        self.conversation.result(&cancellation).await.map(drop).map_err(unknown)
    }

    /// Checks that the task belongs to the server.
    fn check(&self) -> Result<(), ClientError> {
        if self.remote.server() == self.conversation.server.name {
            return Ok(());
        }
        let failure = Failure::Local("was not called: the task belongs to another server.".into());
        Err(self.conversation.error_of(Method::CallTool.name())(failure.into()))
    }

    async fn send(self) -> Result<CallResult, ClientError> {
        self.check()?;
        let Self { conversation, remote, timeout, task_timeout, definition, asks } = self;
        let tool = remote.tool().to_owned();
        // The same task has the same place in each round.
        let respondent = Respondent::of_call(&conversation, asks, &tool, write::literal(remote.id()).get());
        let respondent = Respondent { task_wait: TaskWait { time: task_timeout, ..TaskWait::default() }, ..respondent };
        let call = RemoteRequest {
            is_repeatable: true,
            target: Some(tool.clone()),
            capabilities: Some(respondent.capabilities(&conversation)),
            ..RemoteRequest::new(Method::CallTool, Params::default(), timeout)
        };
        let work = result_of_known(&conversation, &call, remote, &respondent).boxed_local();
        let name = format!("task {}_{tool}", conversation.server.name);
        let result = step(&conversation, &respondent.cx, &name, &call, work).await?.result;
        let result = conversation.checked(&tool, definition, &result, &respondent.cx).await;
        result.map_err(conversation.error_of(Method::CallTool.name()))
    }
}

impl IntoFuture for RunningTask {
    type Output = Result<CallResult, ClientError>;
    type IntoFuture = LocalBoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.send().boxed_local()
    }
}
