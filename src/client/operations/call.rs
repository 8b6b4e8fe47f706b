//! A call of a tool.

use std::future::IntoFuture;
use std::rc::Rc;
use std::time::Duration;

use edge_json::write;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde::Serialize;
use serde_json::value::RawValue;

use super::asked::Asked;
use super::definition::Definition;
use super::result::CallResult;
use super::tool_request::{Called, call_tool};
use crate::call::call_path::Callee;
use crate::call::context::Context;
use crate::client::connection::{Connection, Link, Peer};
use crate::client::error::{ClientError, Failure};
use crate::client::questions::passed::{Pass, pass};
use crate::client::session::listeners::{Listeners, LogMessage, Progress};
use crate::client::session::outgoing::{Outgoing, TaskWait};
use crate::client::wire::message::Params;
use crate::limits::PROGRESS_MESSAGE;
#[cfg(feature = "gateway")]
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::log_level::LogLevel;
use crate::protocol::method::Method;
use crate::text::{line, make_visible, visible};

/// A call of a tool of another server. It is sent when it is awaited.
#[must_use = "a call is sent when it is awaited"]
pub struct Call {
    link: Rc<Link>,
    name: String,
    arguments: serde_json::Result<Box<RawValue>>,
    timeout: Duration,
    task_wait: TaskWait,
    is_idempotent: bool,
    definition: Option<Definition>,
    listeners: Listeners,
    /// The context whose caller answers questions for which the program has no function, and the function that asks the caller.
    asks: Option<(Context, Pass)>,
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
        Call::new(self.0.clone(), name.to_owned(), write::to_raw_value(&arguments))
    }
}

impl Call {
    fn new(link: Rc<Link>, name: String, arguments: serde_json::Result<Box<RawValue>>) -> Self {
        let timeout = link.channel.upstream().timeout;
        Self {
            link,
            name,
            arguments,
            timeout,
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
        self.listeners.set_progress(move |progress| {
            let message = progress.message.as_ref().map(|text| line(text, PROGRESS_MESSAGE).into_owned());
            listener(&Progress { message, ..progress.clone() });
        });
        self
    }

    /// Calls `listener` with each log message of the server of at least this level. Without a listener, the client does not ask a modern
    /// server for log messages.
    ///
    /// Invisible characters are removed from the name of the logger and from the data. The text comes from the server, so do not trust it.
    ///
    /// Revision 2026-07-28 of the protocol deprecates log messages to the client. A revision from 2027-07-28 on can remove them.
    pub fn on_log(mut self, lowest: LogLevel, listener: impl Fn(&LogMessage) + 'static) -> Self {
        self.listeners.set_log(lowest, move |message| {
            let mut message = message.clone();
            message.logger = message.logger.as_deref().map(visible);
            make_visible(&mut message.data);
            listener(&message);
        });
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
    pub(crate) async fn result_or_task(mut self, longest: Option<usize>) -> Result<Called, ClientError> {
        let answers_questions = self.link.channel.upstream().handlers.capabilities() != ClientCapabilities::default();
        self.task_wait.longest_passed_id = longest.filter(|_| !answers_questions);
        self.send().boxed_local().await
    }

    async fn send(self) -> Result<Called, ClientError> {
        let Self { link, name, arguments, timeout, task_wait, is_idempotent, definition, listeners, asks } = self;
        let not_called = |problem: &str| {
            let failure = Failure::Local(format!("was not called: {problem}"));
            ClientError::new(&link.channel.server().name, Method::CallTool.name().into(), failure)
        };
        let arguments =
            arguments.map_err(|error| not_called("the arguments cannot be written as JSON.").because(error))?;
        if definition.as_ref().is_some_and(|tool| tool.server() != link.channel.server().name || !tool.is_tool(&name)) {
            return Err(not_called("the definition belongs to another tool."));
        }
        let (cx, pass) = asks.map_or_else(|| (link.channel.cx().clone(), None), |(cx, pass)| (cx, Some(pass)));
        let callee = Callee { server: Some(&link.channel.server().name), tool: &name };
        let cx = cx.at_call(callee, arguments.get());
        let params = Params::default().with_text("name", &name).with("arguments", arguments.clone());
        let mut outgoing = Outgoing::new(Method::CallTool, params, timeout);
        outgoing.task_wait = task_wait;
        outgoing.is_repeatable = is_idempotent;
        outgoing.target = Some(name);
        outgoing.arguments = arguments.get().into();
        outgoing.listeners = listeners;
        let asked = Asked { cx, pass, is_kept: false };
        call_tool(&link, outgoing, definition, asked).await
    }
}

impl IntoFuture for Call {
    type Output = Result<CallResult, ClientError>;
    type IntoFuture = LocalBoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let server = self.link.channel.server().name.clone();
        let called = self.send();
        let result = async move {
            match called.await? {
                Called::Result(result) => Ok(result),
                // Only `result_or_task` sets that the program gets tasks.
                Called::Task(task, _) => {
                    Err(ClientError::new(&server, Method::CallTool.name().into(), Failure::StillRunning(task)))
                }
            }
        };
        result.boxed_local()
    }
}
