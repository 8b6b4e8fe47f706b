//! A task of another server that the program knows from an earlier call.

use std::future::IntoFuture;
use std::rc::Rc;
use std::time::Duration;

use edge_json::write;
use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::asked::Asked;
use super::cancel_task::{request, unknown};
use super::definition::Definition;
use super::result::CallResult;
use super::step::step;
use super::task::result_of_known;
use super::tool_request::checked;
use crate::call::call_path::Callee;
use crate::call::context::Context;
use crate::client::connection::{Connection, Link, Peer};
use crate::client::error::{ClientError, Failure};
use crate::client::questions::passed::{Pass, pass};
use crate::client::remote_task::RemoteTask;
use crate::client::session::outgoing::Outgoing;
use crate::client::wire::message::Params;
use crate::client::wire::response::RoundResult;
use crate::client::wire::task;
use crate::protocol::method::Method;

/// A task at another server, which [`Peer::task`] continues. Its result is requested when it is awaited.
///
/// Dropping it does not cancel the task.
#[must_use = "the result of a task is requested when it is awaited"]
pub struct RunningTask {
    link: Rc<Link>,
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
            link: self.0.clone(),
            remote: remote.clone(),
            timeout: self.0.channel.upstream().timeout,
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
        let mut cancellation = request(task::CANCEL, &self.remote, Params::default(), self.timeout);
        self.link.session.request(&mut cancellation).await.map(drop).map_err(unknown)
    }

    /// Checks that the task belongs to the server.
    fn check(&self) -> Result<(), ClientError> {
        let server = &self.link.channel.server().name;
        if self.remote.server() == server {
            return Ok(());
        }
        let failure = Failure::Local("was not called: the task belongs to another server.".into());
        Err(ClientError::new(server, Method::CallTool.name().into(), failure))
    }

    async fn send(self) -> Result<CallResult, ClientError> {
        self.check()?;
        let Self { link, remote, timeout, task_timeout, definition, asks } = self;
        let (cx, pass) = asks.map_or_else(|| (link.channel.cx().clone(), None), |(cx, pass)| (cx, Some(pass)));
        let (server, tool) = (&*link.channel.server().name, remote.tool().to_owned());
        // The same task has the same place in each round.
        let cx = cx.at_call(Callee { server: Some(server), tool: &tool }, write::literal(remote.id()).get());
        let mut outgoing = Outgoing::new(Method::CallTool, Params::default(), timeout);
        outgoing.is_repeatable = true;
        outgoing.target = Some(tool.clone());
        outgoing.task_wait.time = task_timeout;
        let asked = Asked { cx, pass, is_kept: true };
        outgoing.capabilities = Some(asked.capabilities(link.channel.upstream()));
        let work = async {
            let result = result_of_known(&link.session, &outgoing, remote, &asked).await?;
            Ok(RoundResult::complete(result))
        };
        let name = format!("task {server}_{tool}");
        let result = step(&link.channel, &asked.cx, &name, &outgoing, work.boxed_local()).await?.result;
        checked(&link, &outgoing, definition, &result, &asked.cx).await
    }
}

impl IntoFuture for RunningTask {
    type Output = Result<CallResult, ClientError>;
    type IntoFuture = LocalBoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.send().boxed_local()
    }
}
