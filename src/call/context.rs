//! The context of a call: the request that a handler answers.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use edge_json::{Document, JsonLimits};
use futures::future::LocalBoxFuture;
use serde::Serialize;
use serde_json::value::RawValue;

use super::call_path::{CallPath, Callee, CurrentPath};
use super::client_extensions::ClientSupport;
use super::error::HandlerError;
use super::exchange::{Exchange, Live};
use super::passed_task::{PassedTask, TaskRequest};
use super::request_info::RequestInfo;
use super::result::ToolResult;
use super::rounds::Rounds;
use super::state::MissingState;
use super::tool_event::{HookData, ToolEvent};
use super::trace::Trace;
use crate::auth::Principal;
use crate::host::Host;
use crate::limits::STATE_BYTES;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::description::Implementation;
use crate::protocol::log_level::LogLevel;
use crate::protocol::message::RequestId;
use crate::protocol::revision::Revision;
use crate::protocol::task::TaskMembers;
use crate::schema::Schema;
use crate::text::{Text, shortened};

/// The tools of a server that handlers can call.
pub(crate) trait CallTools {
    /// Returns the name of the server.
    fn name(&self) -> &str;

    /// Returns the hooks of all tools.
    fn hooks(&self) -> &[Hook];

    /// Returns whether the server itself has the tool `name`, which takes precedence over the tool of a source.
    fn has_own_tool(&self, name: &str) -> bool;

    /// Returns whether the caller of `cx` can see and use the tool `name`.
    fn may_use(&self, name: &str, cx: &Context) -> bool;

    /// Returns the way of tasks of mounted servers to callers, if the server passes them on.
    fn passed_tasks(&self) -> Option<&Rc<dyn PassTasks>>;

    /// Returns the mounted server of the tool `name`. Its type belongs to the room of gateways.
    fn mount_of(&self, name: &str) -> Option<Rc<dyn Any>>;

    /// Describes the tool `name` for an agent, if it exists for the caller of `cx`, the caller has the tool's scopes, and the tool is not for
    /// user interfaces only.
    fn callable(&self, name: &str, cx: &Context) -> Option<CallableTool>;

    /// Calls the tool `name` as a nested call of `cx`.
    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: serde_json::Value,
        cx: &'a Context,
    ) -> LocalBoxFuture<'a, Result<ToolResult, HandlerError>>;
}

/// Passes tasks of mounted servers on. Only `McpServerBuilder::pass_tasks` creates it, so the wasm module of another server does not contain
/// the code. The room `tasks` implements it.
pub(crate) trait PassTasks {
    /// Returns the length of the longest id, as JSON text, of a task of `tool` that can be passed on. Returns `None` if the call of `cx` cannot
    /// be answered with a task.
    fn longest_id(&self, mount: &str, tool: &str, cx: &Context) -> Option<usize>;

    /// Describes a task for the caller of `cx`, with an id for this caller.
    ///
    /// # Errors
    /// The id cannot be encrypted.
    fn describe(&self, task: &PassedTask, members: &TaskMembers, cx: &Context) -> Result<Box<RawValue>, HandlerError>;

    /// Returns whether `id` has the form of an id of [`describe`](Self::describe).
    fn is_passed(&self, id: &str) -> bool;

    /// Sends a request about the task `id` to its server, and returns the result of the request.
    fn send(
        &self,
        id: String,
        request: TaskRequest,
        cx: Context,
    ) -> LocalBoxFuture<'static, Result<Box<RawValue>, HandlerError>>;
}

/// A hook: it gets the name of a tool, an event of a call, what is known of the call if this server executes it, and its context.
pub(crate) type Hook =
    Rc<dyn Fn(&Text, ToolEvent, Option<&HookData>, Context) -> LocalBoxFuture<'static, Result<(), HandlerError>>>;

/// A tool that a handler can call.
pub(crate) struct CallableTool {
    pub name: Text,
    pub description: Text,
    pub input: Rc<Schema>,
}

/// Returns the sentence for a tool that does not exist.
pub(crate) fn unknown_tool(name: &str) -> String {
    format!("Unknown tool `{}`. Call tools/list for the available tools.", shortened(name))
}

/// The context of a call: the caller, the request and the client. Cloning is cheap.
#[derive(Clone)]
pub struct Context {
    exchange: Rc<Exchange>,
    tools: Option<Rc<dyn CallTools>>,
    /// The number of tool calls that contain this one.
    depth: u8,
    current_path: Rc<CurrentPath>,
    values: Rc<CallValues>,
    /// The time at which the deadline of the call that contains this one passes.
    outer_ends_at: Option<u64>,
}

/// The data of one call, which its nested calls do not share.
#[derive(Default)]
struct CallValues {
    /// The time at which the deadline of the call passes, in milliseconds since 1970. `None` if nothing limits the call.
    ends_at: Cell<Option<u64>>,
    /// The values that the program stored, one of each type.
    stored: RefCell<Vec<Rc<dyn Any>>>,
}

impl Context {
    pub(crate) fn new(exchange: Exchange, tools: Option<Rc<dyn CallTools>>) -> Self {
        Self {
            exchange: Rc::new(exchange),
            tools,
            depth: 0,
            current_path: Rc::new(CurrentPath::new(CallPath::default())),
            values: Rc::default(),
            outer_ends_at: None,
        }
    }

    /// Creates a context for calls that the program itself makes with [`execute_tool`](crate::McpServer::execute_tool), with the
    /// caller and the headers of `request`, on `host`. Such a context cannot ask a client for input, and it drops
    /// notifications.
    ///
    /// For work without a request, [`worker::context`](crate::worker) and [`testing::context`](crate::testing::context) are shorter.
    pub fn for_program(request: RequestInfo, host: Rc<dyn Host>) -> Self {
        let exchange = Exchange {
            request,
            id: RequestId::native(),
            revision: Revision::V2026_07_28,
            host,
            rounds: Rc::new(Rounds::new(ClientCapabilities::default(), STATE_BYTES)),
            trace: None,
            live: None,
        };
        Self::new(exchange, None)
    }

    /// Creates the context of a nested call of the tool `name`. `arguments` is JSON.
    pub(crate) fn within(&self, tools: Rc<dyn CallTools>, name: &str, arguments: &str) -> Self {
        Self {
            tools: Some(tools),
            depth: self.depth.saturating_add(1),
            values: Rc::default(),
            outer_ends_at: self.ends_at(),
            ..self.at_call(Callee::own(name), arguments)
        }
    }

    /// Creates the context of the questions and steps that belong to a nested call. `arguments` is JSON.
    pub(crate) fn at_call(&self, callee: Callee<'_>, arguments: &str) -> Self {
        let path = self.path().of_call(callee, arguments, self.rounds());
        Self { current_path: Rc::new(CurrentPath::new(path)), ..self.clone() }
    }

    /// Returns the position, within the call, of the work that is being polled.
    pub(crate) fn path(&self) -> Rc<CallPath> {
        self.current_path.path()
    }

    pub(crate) fn current_path(&self) -> &Rc<CurrentPath> {
        &self.current_path
    }

    /// Returns whether the call had an earlier round or can have another one. If not, results do not have to be stored.
    pub(crate) fn has_rounds(&self) -> bool {
        self.rounds().spans_rounds()
    }

    pub(crate) fn depth(&self) -> u8 {
        self.depth
    }

    /// Sets the deadline of the call, which passes after `limit`.
    pub(crate) fn start_deadline(&self, limit: Duration) {
        let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        self.values.ends_at.set(Some(self.now_ms().saturating_add(limit)));
    }

    fn ends_at(&self) -> Option<u64> {
        self.values.ends_at.get().into_iter().chain(self.outer_ends_at).min()
    }

    /// Returns the time until the deadline of the call, or of a call that contains it. Returns `None` if nothing limits the call.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        Some(Duration::from_millis(self.ends_at()?.saturating_sub(self.now_ms())))
    }

    /// Returns the caller. For work that callers without a token may do too, [`RequestInfo::caller`] of [`request`](Self::request) returns an
    /// `Option`.
    ///
    /// # Errors
    /// The endpoint has no authentication. With `?`, the caller gets the sentence that the call needs a signed-in caller.
    ///
    /// ```
    /// use edge_mcp::{Context, HandlerError};
    ///
    /// async fn whoami(cx: Context) -> Result<String, HandlerError> {
    ///     Ok(cx.caller()?.subject.clone())
    /// }
    /// ```
    pub fn caller(&self) -> Result<&Principal, HandlerError> {
        self.request().caller().ok_or_else(|| HandlerError::new("This needs a signed-in caller. Sign in first."))
    }

    /// Returns the name and version of the client. Use it for display and logs only: it is not verified.
    ///
    /// Clients of older revisions send it only in `initialize`, so it is `None` in their later requests.
    pub fn client_info(&self) -> Option<&Implementation> {
        self.request().client_info()
    }

    /// Returns the JSON-RPC id of the request.
    pub fn request_id(&self) -> &RequestId {
        &self.exchange.id
    }

    /// Returns the protocol revision of the request.
    pub fn revision(&self) -> Revision {
        self.exchange.revision
    }

    /// Returns the member `name` of the request's `_meta`, if the client sent it. Examples are `progressToken`, and
    /// members that a client and a server agree on, such as `example.com/tenant`.
    pub fn meta(&self, name: &str) -> Option<serde_json::Value> {
        let meta = self.request().meta()?;
        let document = Document::parse(meta.as_bytes(), JsonLimits::MOST).ok()?;
        document.root().get(name)?.to_json()
    }

    /// Returns whether the client supports an extension of the protocol, such as `com.example/ledger`.
    ///
    /// ```
    /// use edge_mcp::call::ClientSupport;
    /// use edge_mcp::Context;
    ///
    /// async fn entry(cx: Context) -> &'static str {
    ///     match cx.client_supports("com.example/ledger") {
    ///         ClientSupport::Yes(_) => "The client shows the ledger.",
    ///         ClientSupport::No | ClientSupport::Unknown => "The entry as text.",
    ///     }
    /// }
    /// ```
    pub fn client_supports(&self, extension: &str) -> ClientSupport {
        self.request().client_supports(extension)
    }

    /// Returns the URL of the request. Its host comes from the client, so do not base security decisions on it.
    pub fn url(&self) -> String {
        self.exchange.request.url()
    }

    /// Returns the W3C trace context of this request (`traceparent`). Send it with your own requests to make them part of the same trace.
    ///
    /// With [telemetry](crate::Endpoint::telemetry), it names the span of this request. Without, it is the one that the client sent.
    pub fn traceparent(&self) -> Option<String> {
        Some(self.trace()?.context()?.parent())
    }

    /// Returns the data of tracing systems that belongs to the trace (`tracestate`), if the client sent it with a valid `traceparent`.
    pub fn tracestate(&self) -> Option<String> {
        Some(self.trace()?.context()?.state()?.to_owned())
    }

    /// Returns the place of the request in a trace.
    pub(crate) fn trace(&self) -> Option<&Trace> {
        self.exchange.trace.as_deref()
    }

    /// Returns the HTTP header `name`, like [`RequestInfo::header`]: the credentials of the caller are absent.
    pub fn header(&self, name: &str) -> Option<String> {
        self.exchange.request.header(name)
    }

    /// Returns the value of type `T` that [`Endpoint::state`](crate::Endpoint::state) shares between all requests.
    ///
    /// # Errors
    /// [`MissingState`] if there is no such value. It names the types that the endpoint has. `?` converts it into a [`HandlerError`].
    ///
    /// ```
    /// use edge_mcp::{Context, HandlerError};
    ///
    /// struct Depot {
    ///     city: String,
    /// }
    ///
    /// async fn city(cx: Context) -> Result<String, HandlerError> {
    ///     Ok(cx.state::<Depot>()?.city.clone())
    /// }
    /// ```
    pub fn state<T: 'static>(&self) -> Result<Rc<T>, MissingState> {
        self.exchange.request.state()
    }

    /// Returns the value of type `T` that was stored for [this call](Self::extend), or otherwise the one that the
    /// [server function](RequestInfo::extend) or an earlier handler stored for this request.
    pub fn extension<T: 'static>(&self) -> Option<Rc<T>> {
        let stored = self.values.stored.borrow().iter().find_map(|value| value.clone().downcast().ok());
        stored.or_else(|| self.exchange.request.extension())
    }

    /// Stores `value` for this call. It replaces an earlier value of the same type. With it, the question for an
    /// [approval](crate::Tool::requires_approval) passes what it has looked up to the handler and the hooks of the call, which read it with
    /// [`extension`](Self::extension). Other calls of the request do not see it. [`RequestInfo::extend`] stores a value for the whole request.
    ///
    /// The handler of a durable task runs later, in a request of its own, so it does not have the value.
    ///
    /// ```
    /// use edge_mcp::{Context, HandlerError, Tool};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Claim {
    ///     id: u32,
    /// }
    ///
    /// struct Expense {
    ///     euros: u32,
    /// }
    ///
    /// async fn find(Claim { id }: &Claim) -> Result<Expense, HandlerError> {
    ///     Ok(Expense { euros: 100 * id })
    /// }
    ///
    /// async fn pay(_: Claim, cx: Context) -> Result<String, HandlerError> {
    ///     let expense = cx.extension::<Expense>().ok_or_else(|| HandlerError::new("There is no such expense."))?;
    ///     Ok(format!("Paid {} euros.", expense.euros))
    /// }
    ///
    /// let pay = Tool::new("pay-expense", "Pays an expense.", pay).requires_approval(async |claim: Claim, cx: Context| {
    ///     let expense = find(&claim).await?;
    ///     let question = format!("Pay {} euros?", expense.euros);
    ///     cx.extend(expense);
    ///     Ok(Some(question.into()))
    /// });
    /// ```
    pub fn extend<T: 'static>(&self, value: T) {
        let mut values = self.values.stored.borrow_mut();
        values.retain(|kept| !kept.is::<T>());
        values.push(Rc::new(value));
    }

    /// Returns the time of the host's clock, in milliseconds since 1970-01-01T00:00:00Z.
    pub fn now_ms(&self) -> u64 {
        self.exchange.host.now_ms()
    }

    /// Sends a progress notification: `progress` of `total`, if the total is known, and a message.
    ///
    /// In a durable task, the message becomes the message of the task. Otherwise, the notification is sent at once,
    /// on the stream of the response. It is dropped if the client did not send a progress token, if the response
    /// cannot be a stream, or if `progress` is not greater than before.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: impl Into<Text>) {
        if self.depth > 0 {
            return;
        }
        let message = message.into();
        if let Some(live) = self.live() {
            live.outbox.progress(progress, total, &message);
        }
        if let Some(journal) = self.rounds().journal() {
            journal.report(&message);
        }
    }

    /// Sends a log message to the client. `data` is a text or any other value that serializes to JSON.
    ///
    /// The message is sent at once, on the stream of the response. It is dropped if the server does not
    /// [declare](crate::McpServerBuilder::logging) log messages, if the client did not ask for this level, or if the
    /// response cannot be a stream. Do not include secrets or internals of the server.
    ///
    /// Revision 2026-07-28 of the protocol deprecates log messages to the client. A revision from 2027-07-28 on can remove them. Write to the
    /// log of the host instead.
    pub fn log(&self, level: LogLevel, data: impl Serialize) {
        if let Some(live) = self.live() {
            live.outbox.log(level, &live.logger, data);
        }
    }

    /// Sends a log message like [`log`](Self::log), of the logger `logger`.
    #[cfg(feature = "gateway")]
    pub(crate) fn log_as(&self, level: LogLevel, logger: &str, data: impl Serialize) {
        if let Some(live) = self.live() {
            live.outbox.log(level, logger, data);
        }
    }

    /// Calls the tool `name` of the same server for the same caller, like a request of the client. The tool's
    /// scopes, schema, hooks and deadline apply. Its progress notifications are dropped. Its questions are sent to the
    /// client.
    ///
    /// If the tool fails, or if the arguments do not fit its schema, the result has [`is_error`](ToolResult::is_error).
    ///
    /// # Errors
    /// The tool does not exist, the caller lacks a scope, `arguments` is not an object, or tool calls are nested too deeply.
    ///
    /// ```
    /// use edge_mcp::{Context, HandlerError, Tool};
    /// use serde_json::json;
    ///
    /// async fn twice(cx: Context) -> Result<String, HandlerError> {
    ///     let first = cx.call_tool("greet", json!({})).await?;
    ///     let second = cx.call_tool("greet", json!({})).await?;
    ///     Ok(format!("{} {}", first.text(), second.text()))
    /// }
    ///
    /// let tool = Tool::new("greet-twice", "Says hello, and again.", twice);
    /// ```
    pub async fn call_tool(&self, name: &str, arguments: serde_json::Value) -> Result<ToolResult, HandlerError> {
        match &self.tools {
            Some(tools) => tools.call(name, arguments, self).await,
            None => Err(HandlerError::new(unknown_tool(name))),
        }
    }

    /// Returns the tools that the handler can call.
    pub(crate) fn tools(&self) -> Option<&Rc<dyn CallTools>> {
        self.tools.as_ref()
    }

    /// Completes when the client has disconnected and no longer needs the result, or when it has cancelled the durable task. The handler of a
    /// task then has 30 s.
    ///
    /// A client of 2026-07-28 cancels a request by closing the stream of its response. The handler is then dropped at
    /// its next await point. A handler that calls this method is not dropped: it runs to its end, so that it can clean
    /// up.
    ///
    /// Clients of older revisions may close a stream for other reasons. While a response is plain JSON, a disconnect is
    /// not detected.
    pub async fn cancelled(&self) {
        match self.live() {
            Some(live) => {
                live.is_watched.set(true);
                live.connection.closed().await;
            }
            None => match self.rounds().journal() {
                Some(journal) => journal.cancelled().await,
                None => std::future::pending().await,
            },
        }
    }

    /// Returns the HTTP request.
    pub fn request(&self) -> &RequestInfo {
        &self.exchange.request
    }

    pub(crate) fn rounds(&self) -> &Rc<Rounds> {
        &self.exchange.rounds
    }

    /// Returns the configured URL of the endpoint, if there is one.
    pub(crate) fn resource(&self) -> Option<&str> {
        self.request().resource()
    }

    pub(crate) fn live(&self) -> Option<&Live> {
        self.exchange.live.as_ref()
    }

    pub(crate) fn depends_on_caller(&self) -> bool {
        self.exchange.request.depends_on_caller()
    }

    pub(crate) fn host(&self) -> &Rc<dyn Host> {
        &self.exchange.host
    }
}
