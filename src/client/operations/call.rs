//! A call of a tool.

use std::future::IntoFuture;
use std::rc::Rc;
use std::time::Duration;

use edge_json::write;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde::Serialize;
use serde_json::value::RawValue;

use super::definition::Definition;
use super::respondent::{Respondent, TaskWait};
use super::result::CallResult;
use super::tool_call::CallOutcome;
use crate::call::context::Context;
use crate::client::connection::{Connection, Peer};
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Failure};
use crate::client::questions::passed::{Pass, pass};
use crate::client::remote_task::RemoteTask;
use crate::client::session::listeners::{Listeners, LogMessage, Progress};
use crate::client::session::remote_request::RemoteRequest;
use crate::client::wire::message::Params;
#[cfg(feature = "gateway")]
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::log_level::LogLevel;
use crate::protocol::method::Method;

/// A call of a tool of another server, or the rest of a call that continues there as a task. It is sent when it is awaited.
#[must_use = "a call is sent when it is awaited"]
pub struct Call {
    conversation: Rc<Conversation>,
    work: CallWork,
    timeout: Duration,
    task_wait: TaskWait,
    is_idempotent: bool,
    definition: Option<Definition>,
    listeners: Listeners,
    /// The context whose caller answers questions for which the program has no function, and the function that asks the caller.
    asks: Option<(Context, Pass)>,
}

enum CallWork {
    /// A call of the tool with this name, with arguments.
    Tool(String, serde_json::Result<Box<RawValue>>),
    /// A task that an earlier call has begun.
    Task(RemoteTask),
}

impl Connection {
    /// Creates a call of a tool by its full name, such as `weather_get-forecast`. It is sent when it is awaited.
    ///
    /// # Errors
    /// The name does not begin with the name of a server and `_`.
    pub fn call(&self, name: &str, arguments: impl Serialize) -> Result<Call, ClientError> {
        let (server, tool) = name.split_once('_').unwrap_or((name, ""));
        Ok(self.server(server)?.call(tool, arguments))
    }
}

impl Peer {
    /// Creates a call of the tool `name`. It is sent when it is awaited.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use edge_mcp::client::McpClient;
    /// use edge_mcp::{Context, HandlerError};
    /// use serde::Deserialize;
    /// use serde_json::json;
    ///
    /// #[derive(Deserialize)]
    /// struct Weather {
    ///     celsius: f64,
    /// }
    ///
    /// async fn clothes(client: McpClient, cx: Context) -> Result<&'static str, HandlerError> {
    ///     let weather = client.connect(&cx).server("weather")?;
    ///     let call = weather.call("get-weather", json!({ "location": "Paris" })).timeout(Duration::from_secs(5));
    ///     let Weather { celsius } = call.await?.json()?;
    ///     Ok(if celsius < 15.0 { "Wear a coat." } else { "Wear a shirt." })
    /// }
    /// ```
    pub fn call(&self, name: &str, arguments: impl Serialize) -> Call {
        Call::new(self.0.clone(), CallWork::Tool(name.to_owned(), write::to_raw_value(&arguments)))
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
        Call::new(self.0.clone(), CallWork::Task(remote.clone()))
    }
}

impl Call {
    fn new(conversation: Rc<Conversation>, work: CallWork) -> Self {
        Self {
            timeout: conversation.server.upstream.timeout,
            conversation,
            work,
            task_wait: TaskWait::default(),
            is_idempotent: false,
            definition: None,
            listeners: Listeners::default(),
            asks: None,
        }
    }

    /// Sets the definition of the tool, from an earlier list. The client then sends the headers that the definition requires, and checks
    /// the result against its output schema. It does not list the tools again.
    pub fn definition(mut self, definition: &Definition) -> Self {
        self.definition = Some(definition.clone());
        self
    }

    /// Sets the time limit of a request. By default, it is [`Upstream::timeout`](crate::client::Upstream::timeout).
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time;
        self
    }

    /// Sets the longest time to wait for a task. By default, it is 5 min.
    ///
    /// A modern server may answer a call with a task, whose result comes later. The client then asks for the result at intervals. The wait also
    /// ends 2 s before the deadline of the handler. If the task has not ended, the call fails with
    /// [`Failure::StillRunning`](crate::client::Failure::StillRunning), and [`Peer::task`] continues the task. If the call is dropped, the client
    /// asks the server to cancel the task.
    pub fn task_timeout(mut self, time: Duration) -> Self {
        self.task_wait.time = Some(time);
        self
    }

    /// Cancels a task that has not ended in time, because the program cannot continue it.
    pub(crate) fn cancel_late_task(mut self) -> Self {
        self.task_wait.cancels_late = true;
        self
    }

    /// Declares that a second call with the same arguments has no further effect. The client then repeats the call once if the connection
    /// or the server fails, or if the time limit passes.
    pub fn idempotent(mut self) -> Self {
        self.is_idempotent = true;
        self
    }

    /// Calls `listener` with each progress notification of the server. Without a listener, the client does not ask for progress.
    ///
    /// The message is one line of at most 1000 characters, without invisible characters.
    ///
    /// ```
    /// use edge_mcp::client::McpClient;
    /// use edge_mcp::{Context, HandlerError};
    /// use serde_json::json;
    ///
    /// async fn load(client: McpClient, cx: Context) -> Result<String, HandlerError> {
    ///     let (depot, caller) = (client.connect(&cx).server("depot")?, cx.clone());
    ///     let call = depot.call("load", json!({}));
    ///     // Passes the progress on to the caller of this program.
    ///     let call = call.on_progress(move |it| caller.progress(it.progress, it.total, it.message.clone().unwrap_or_default()));
    ///     Ok(call.await?.text())
    /// }
    /// ```
    pub fn on_progress(mut self, listener: impl Fn(&Progress) + 'static) -> Self {
        self.listeners.set_progress(listener);
        self
    }

    /// Calls `listener` with each log message of the server of at least this level. Without a listener, the client does not ask a modern
    /// server for log messages.
    ///
    /// Invisible characters are removed from the name of the logger and from the data. The text comes from the server, so do not trust it.
    ///
    /// Revision 2026-07-28 of the protocol deprecates log messages to the client. A revision from 2027-07-28 on can remove them.
    pub fn on_log(mut self, lowest: LogLevel, listener: impl Fn(&LogMessage) + 'static) -> Self {
        self.listeners.set_log(lowest, listener);
        self
    }

    /// Passes the forms and URLs (elicitation) of the server to the caller of `cx`, if the program has no function that answers them.
    ///
    /// A question ends the round, as [`Context::elicit`] does. Its text begins with the name of this server in brackets. In the next
    /// round, the call continues where the server asked. The server must be modern, and the caller must support elicitation in revision
    /// 2026-07-28. For other callers, the client does not declare elicitation to the server.
    ///
    /// ```
    /// use edge_mcp::client::McpClient;
    /// use edge_mcp::{Context, HandlerError};
    /// use serde_json::json;
    ///
    /// async fn clear(client: McpClient, cx: Context) -> Result<String, HandlerError> {
    ///     let depot = client.connect(&cx).server("depot")?;
    ///     // The person sees, for example, "[depot] Delete all parcels?".
    ///     Ok(depot.call("clear", json!({})).ask_caller(&cx).await?.text())
    /// }
    /// ```
    pub fn ask_caller(mut self, cx: &Context) -> Self {
        self.asks = Some((cx.clone(), pass));
        self
    }

    /// Calls the tool, and returns a task instead of its result. A task is waited for instead if its id as JSON text has more than `longest` bytes,
    /// or if the program answers questions of the server.
    #[cfg(feature = "gateway")]
    pub(crate) async fn result_or_task(mut self, longest: Option<usize>) -> Result<CallOutcome, ClientError> {
        let handlers = &self.conversation.server.upstream.handlers;
        let answers_questions = handlers.capabilities() != ClientCapabilities::default();
        self.task_wait.longest_passed_id = longest.filter(|_| !answers_questions);
        self.outcome().boxed_local().await
    }

    async fn outcome(self) -> Result<CallOutcome, ClientError> {
        let conversation = self.conversation.clone();
        self.send().await.map_err(conversation.error_of(Method::CallTool.name()))
    }

    async fn send(self) -> Result<CallOutcome, ClientError> {
        let Self { conversation, work, timeout, task_wait, is_idempotent, definition, listeners, asks } = self;
        let (name, arguments) = match work {
            CallWork::Tool(name, arguments) => (name, arguments),
            CallWork::Task(task) => {
                // The same task has the same place in each round.
                let place = write::literal(task.id());
                let respondent = Respondent::of_call(&conversation, asks, task.tool(), place.get());
                let respondent = Respondent { task_wait, ..respondent };
                return conversation.continue_task(task, timeout, definition, respondent).await;
            }
        };
        let server = &conversation.server.name;
        let arguments = arguments.map_err(|error| {
            let problem = "was not called: the arguments cannot be written as JSON.";
            ClientError::new(Failure::Local(problem.to_owned()), Some(error.to_string()))
        })?;
        if definition.as_ref().is_some_and(|tool| tool.server() != server || !tool.is_tool(&name)) {
            return Err(Failure::Local("was not called: the definition belongs to another tool.".to_owned()).into());
        }
        let respondent = Respondent::of_call(&conversation, asks, &name, arguments.get());
        let params = Params::default().with_text("name", &name).with("arguments", arguments);
        let request = RemoteRequest {
            is_repeatable: is_idempotent,
            target: Some(name),
            listeners,
            ..RemoteRequest::new(Method::CallTool, params, timeout)
        };
        conversation.call_tool(request, definition, Respondent { task_wait, ..respondent }).await
    }
}

impl IntoFuture for Call {
    type Output = Result<CallResult, ClientError>;
    type IntoFuture = LocalBoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let conversation = self.conversation.clone();
        let result = async move {
            match self.outcome().await? {
                CallOutcome::Result(result) => Ok(result),
                // Only `result_or_task` sets that the program gets tasks.
                CallOutcome::Task(task, _) => {
                    let error = Failure::StillRunning(task).into();
                    Err(conversation.error_of(Method::CallTool.name())(error))
                }
            }
        };
        result.boxed_local()
    }
}
