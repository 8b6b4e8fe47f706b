//! What a server function and a handler can learn of the request.

use std::cell::Cell;
use std::rc::Rc;

use futures::future::{LocalBoxFuture, Shared};
use serde::Serialize;

use super::call_path::{CallPath, Place};
use super::error::HandlerError;
use super::exchange::Exchange;
use super::notifications::Outbox;
use super::request_info::{PerCaller, RequestInfo};
use super::result::ToolResult;
use crate::auth::Principal;
use crate::host::Host;
use crate::json::{Document, JsonLimits};
use crate::limits::STATE_BYTES;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::description::{Implementation, Text};
use crate::protocol::error::shortened;
use crate::protocol::log_level::LogLevel;
use crate::protocol::message::RequestId;
use crate::protocol::revision::Revision;
use crate::schema::Schema;

/// The tools of a server, as its handlers call them.
pub(crate) trait CallTools {
    /// Returns the name of the server.
    fn name(&self) -> &str;

    /// Describes the tool `name`, if it exists for the caller of `cx` and the caller has its scopes.
    fn callable(&self, name: &str, cx: &Context) -> Option<CallableTool>;

    /// Calls the tool `name` within the call of `cx`.
    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: serde_json::Value,
        cx: &'a Context,
    ) -> LocalBoxFuture<'a, Result<ToolResult, HandlerError>>;
}

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

/// The request that a handler answers. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    of_request: Rc<OfRequest>,
    tools: Option<Rc<dyn CallTools>>,
    /// How many calls of tools this one is within.
    depth: u8,
    place: Rc<Place>,
}

/// What is the same for all calls that a request leads to.
struct OfRequest {
    request: RequestInfo,
    id: RequestId,
    revision: Revision,
    client: PerCaller<Option<Implementation>>,
    host: Rc<dyn Host>,
    exchange: Rc<Exchange>,
    /// The `_meta` of its parameters, as it was sent.
    meta: PerCaller<Option<Box<str>>>,
    traceparent: Option<Box<str>>,
    /// The URL that the endpoint is configured with.
    resource: Option<Box<str>>,
    live: Option<Live>,
}

/// What only an answer that may become a stream has.
pub(crate) struct Live {
    /// Where notifications go.
    pub outbox: Outbox,
    /// The server's name, which log messages carry.
    pub logger: Text,
    /// Ready when the client has gone away.
    pub gone: Shared<LocalBoxFuture<'static, ()>>,
    /// Whether the handler looks at that itself.
    pub is_watched: Cell<bool>,
}

/// What a context is made of.
pub(crate) struct Parts {
    pub request: RequestInfo,
    pub id: RequestId,
    pub revision: Revision,
    pub client: Option<Implementation>,
    pub capabilities: ClientCapabilities,
    pub host: Rc<dyn Host>,
    /// The `_meta` of the parameters, as it was sent.
    pub meta: Option<Box<str>>,
    pub traceparent: Option<Box<str>>,
    /// The URL that the endpoint is configured with.
    pub resource: Option<Box<str>>,
    /// Bytes that a request state may have.
    pub state_limit: usize,
    pub live: Option<Live>,
}

impl Parts {
    /// The parts of a request that tells nothing about its client.
    pub(crate) fn new(request: RequestInfo, id: RequestId, revision: Revision, host: Rc<dyn Host>) -> Self {
        let (client, capabilities, meta, traceparent, resource, live) = Default::default();
        let state_limit = STATE_BYTES;
        Self { request, id, revision, client, capabilities, host, meta, traceparent, resource, state_limit, live }
    }
}

impl Context {
    pub(crate) fn new(parts: Parts, tools: Option<Rc<dyn CallTools>>) -> Self {
        let Parts { request, id, revision, client, capabilities, host, meta, traceparent, resource, state_limit, live } =
            parts;
        let of_request = OfRequest {
            client: request.per_caller(client),
            meta: request.per_caller(meta),
            exchange: Rc::new(Exchange::new(capabilities, state_limit)),
            request,
            id,
            revision,
            host,
            traceparent,
            resource,
            live,
        };
        Self { of_request: Rc::new(of_request), tools, depth: 0, place: Rc::new(Place::new(CallPath::default())) }
    }

    /// A context for calls that the program itself makes, by [`execute_tool`](crate::McpServer::execute_tool): with the caller and the headers
    /// of `request`, on `host`. Nobody can be asked anything in it, nor be told how far the work has come.
    pub fn native(request: RequestInfo, host: Rc<dyn Host>) -> Self {
        Self::new(Parts::new(request, RequestId::native(), Revision::V2026_07_28, host), None)
    }

    /// The context of a call of the tool `name` within this one. `arguments` is JSON.
    pub(crate) fn within(&self, tools: Rc<dyn CallTools>, name: &str, arguments: &str) -> Self {
        let path = self.path().of_call(name, arguments, self.exchange());
        Self {
            of_request: self.of_request.clone(),
            tools: Some(tools),
            depth: self.depth.saturating_add(1),
            place: Rc::new(Place::new(path)),
        }
    }

    /// Where the work that is being polled stands in the call.
    pub(crate) fn path(&self) -> Rc<CallPath> {
        self.place.path()
    }

    pub(crate) fn place(&self) -> &Rc<Place> {
        &self.place
    }

    /// Whether the call had an earlier round, or can have another one. If not, no result has to be remembered.
    pub(crate) fn has_rounds(&self) -> bool {
        self.exchange().has_rounds()
    }

    pub(crate) fn depth(&self) -> u8 {
        self.depth
    }

    /// Who calls; `None` on an endpoint without authentication.
    pub fn auth(&self) -> Option<&Principal> {
        self.of_request.request.principal()
    }

    /// The program that calls, as it names itself. For display and logs: anyone can claim any name.
    ///
    /// Clients of older revisions name themselves only when they open, so that this is `None` in their later requests.
    pub fn client_info(&self) -> Option<&Implementation> {
        self.of_request.client.read().as_ref()
    }

    /// The JSON-RPC id of the request.
    pub fn request_id(&self) -> &RequestId {
        &self.of_request.id
    }

    /// The revision of the protocol that the request is written in.
    pub fn revision(&self) -> Revision {
        self.of_request.revision
    }

    /// The member `name` of the request's `_meta`, if the client sent one: `progressToken`, or what a client and a server have agreed on
    /// between themselves, such as `example.com/tenant`.
    pub fn meta(&self, name: &str) -> Option<serde_json::Value> {
        let meta = self.of_request.meta.read().as_deref()?;
        let document = Document::parse(meta.as_bytes(), JsonLimits::MOST).ok()?;
        document.root().get(name)?.to_json()
    }

    /// The URL that was asked, with what its sender says of the host: not to be believed in where something rests on it.
    pub fn url(&self) -> String {
        self.of_request.request.url()
    }

    /// The W3C trace context that the client sent (`traceparent`), for calls of one's own to be part of the same trace.
    pub fn traceparent(&self) -> Option<&str> {
        self.of_request.traceparent.as_deref()
    }

    /// The HTTP header of that name, whatever its case.
    pub fn header(&self, name: &str) -> Option<String> {
        self.of_request.request.header(name)
    }

    /// What the [server function](RequestInfo::extend), or a handler before, has kept of that type for this request.
    pub fn extension<T: 'static>(&self) -> Option<Rc<T>> {
        self.of_request.request.extension()
    }

    /// Milliseconds since 1970-01-01T00:00:00Z, by the host's clock.
    pub fn now_ms(&self) -> u64 {
        self.of_request.host.now_ms()
    }

    /// Tells the client how far the work has come: `progress` of `total`, if that is known, and what is being done.
    ///
    /// It is sent at once, on the stream of the answer, if the client has asked for progress and takes such a stream; else it
    /// is dropped. So is a `progress` that is no more than the one before it.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: impl Into<Text>) {
        if let Some(live) = self.live().filter(|_| self.depth == 0) {
            live.outbox.progress(progress, total, &message.into());
        }
    }

    /// Sends the client a log message: `data` is a text, or anything else that is JSON.
    ///
    /// It is sent at once, on the stream of the answer, if the server [declares](crate::McpServerBuilder::logging)
    /// log messages, and the client wants those of this level and takes such a stream; else it is dropped. It must hold no
    /// secret and nothing of the server's inside.
    pub fn log(&self, level: LogLevel, data: impl Serialize) {
        if let Some(live) = self.live() {
            live.outbox.log(level, &live.logger, data);
        }
    }

    /// Calls the tool `name` of the same server for the same caller, as a request of the client would: the tool's scopes, schema, hooks
    /// and deadline apply. Its progress notifications are dropped. Its questions are asked.
    ///
    /// A failure of the tool, and arguments that do not fit its schema, are a result with [`is_error`](ToolResult::is_error).
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
    /// let tool = Tool::new("greet-twice", twice).description("Says hello, and again.");
    /// ```
    pub async fn call_tool(&self, name: &str, arguments: serde_json::Value) -> Result<ToolResult, HandlerError> {
        match &self.tools {
            Some(tools) => tools.call(name, arguments, self).await,
            None => Err(HandlerError::new(unknown_tool(name))),
        }
    }

    /// Describes the tool `name` of the same server, if the caller can call it.
    pub(crate) fn callable_tool(&self, name: &str) -> Option<CallableTool> {
        self.tools.as_ref()?.callable(name, self)
    }

    /// Returns the name of the server.
    pub(crate) fn server_name(&self) -> Option<&str> {
        self.tools.as_ref().map(|tools| tools.name())
    }

    /// Is ready when the client has gone away, so that the work is for nobody.
    ///
    /// A client of 2026-07-28 that closes the stream of an answer has cancelled the request, and the handler is dropped
    /// where it waits, unless it looks at this: it then goes on to its end, and can put things in order. Clients of older
    /// revisions may close a stream for other reasons. A JSON answer that is pending is not told at all.
    pub async fn cancelled(&self) {
        match self.live() {
            Some(live) => {
                live.is_watched.set(true);
                live.gone.clone().await;
            }
            None => std::future::pending().await,
        }
    }

    pub(crate) fn exchange(&self) -> &Exchange {
        &self.of_request.exchange
    }

    pub(crate) fn shared_exchange(&self) -> &Rc<Exchange> {
        &self.of_request.exchange
    }

    /// The URL that the endpoint is configured with, if there is one.
    pub(crate) fn resource(&self) -> Option<&str> {
        self.of_request.resource.as_deref()
    }

    pub(crate) fn live(&self) -> Option<&Live> {
        self.of_request.live.as_ref()
    }

    pub(crate) fn depends_on_caller(&self) -> bool {
        self.of_request.request.depends_on_caller()
    }

    pub(crate) fn host(&self) -> &Rc<dyn Host> {
        &self.of_request.host
    }
}
