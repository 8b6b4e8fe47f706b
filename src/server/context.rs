//! What a server function and a handler can learn of the request.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use futures::future::{LocalBoxFuture, Shared};
use serde::Serialize;
use serde_json::value::RawValue;

use super::builder::McpServer;
use super::call_path::CallPath;
use super::exchange::{Exchange, Running};
use super::outbox::Outbox;
use super::session_required::SessionRequired;
use crate::auth::Principal;
use crate::host::{Host, Request, path_of};
use crate::json::{Document, JsonLimits};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::description::{Implementation, Text};
use crate::protocol::log_level::LogLevel;
use crate::protocol::message::RequestId;
use crate::protocol::revision::Revision;

/// The HTTP request that a server is built for.
#[derive(Clone)]
pub struct RequestInfo {
    pub(crate) head: Rc<dyn Request>,
    pub(crate) principal: Option<Rc<Principal>>,
    asked: Rc<Cell<bool>>,
    extensions: Rc<RefCell<HashMap<TypeId, Rc<dyn Any>>>>,
}

impl RequestInfo {
    /// A request that `principal` has sent, for a [context of one's own](Context::native).
    pub fn new(head: Rc<dyn Request>, principal: Option<Principal>) -> Self {
        Self { head, principal: principal.map(Rc::new), asked: Rc::default(), extensions: Rc::default() }
    }

    /// Who calls, for a check whose outcome no cache sees.
    pub(crate) fn caller(&self) -> Option<&Principal> {
        self.principal.as_deref()
    }

    /// Whether anyone has looked at the caller or at a header: the answer may then be another for another caller.
    pub(crate) fn depends_on_caller(&self) -> bool {
        self.asked.get()
    }

    /// The header of that name, whatever its case.
    pub fn header(&self, name: &str) -> Option<String> {
        self.asked.set(true);
        self.head.header(name)
    }

    /// Keeps `value` for the handlers of this request, which get it by its type, as does whatever they call. It takes the place of
    /// another of that type.
    ///
    /// ```
    /// use edge_mcp::{BuildError, Context, McpServer, RequestInfo, Tool};
    ///
    /// struct Tenant(String);
    ///
    /// fn server(request: &RequestInfo) -> Result<McpServer, BuildError> {
    ///     request.extend(Tenant(request.header("X-Tenant").unwrap_or_default()));
    ///     let tenant = |cx: Context| async move { cx.extension::<Tenant>().map_or(String::new(), |tenant| tenant.0.clone()) };
    ///     McpServer::builder("tenants", "1.0.0").tool(Tool::new("tenant", tenant).description("Who this is for.")).build()
    /// }
    /// ```
    pub fn extend<T: 'static>(&self, value: T) {
        self.extensions.borrow_mut().insert(TypeId::of::<T>(), Rc::new(value));
    }

    /// What was kept of that type.
    pub fn extension<T: 'static>(&self) -> Option<Rc<T>> {
        self.extensions.borrow().get(&TypeId::of::<T>())?.clone().downcast().ok()
    }

    /// The path of the URL, without the query.
    pub fn path(&self) -> String {
        path_of(&self.head.url()).to_owned()
    }

    /// Who calls; `None` on an endpoint without authentication.
    pub fn principal(&self) -> Option<&Principal> {
        self.asked.set(true);
        self.caller()
    }
}

/// The request that a handler answers. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    of_request: Rc<OfRequest>,
    server: Option<Rc<McpServer>>,
    /// How many calls of tools this one is within.
    depth: u8,
    /// Where in the call it is; `None` in the outermost call outside of steps, and if the call has no other rounds.
    path: Option<Rc<CallPath>>,
}

/// What is the same for all calls that a request leads to.
struct OfRequest {
    request: RequestInfo,
    id: RequestId,
    revision: Revision,
    client: Option<Implementation>,
    host: Rc<dyn Host>,
    exchange: Rc<Exchange>,
    /// The `_meta` of its parameters, as it was sent.
    meta: Option<Box<str>>,
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

impl Context {
    pub(crate) fn new(
        request: RequestInfo,
        id: RequestId,
        revision: Revision,
        client: Option<Implementation>,
        capabilities: ClientCapabilities,
        host: Rc<dyn Host>,
    ) -> Self {
        let exchange = Rc::new(Exchange::new(capabilities));
        let (meta, traceparent, resource, live) = (None, None, None, None);
        let of_request = OfRequest { request, id, revision, client, host, exchange, meta, traceparent, resource, live };
        Self { of_request: Rc::new(of_request), server: None, depth: 0, path: None }
    }

    /// The same context, of a request that has this `_meta`. For one that nobody has a copy of yet.
    pub(crate) fn with_meta(mut self, meta: Option<Box<str>>) -> Self {
        if let Some(request) = Rc::get_mut(&mut self.of_request) {
            request.meta = meta;
        }
        self
    }

    /// The same context, of a request that is part of a trace. For one that nobody has a copy of yet.
    pub(crate) fn with_traceparent(mut self, traceparent: Option<Box<str>>) -> Self {
        if let Some(request) = Rc::get_mut(&mut self.of_request) {
            request.traceparent = traceparent;
        }
        self
    }

    /// The same context, of an endpoint that is configured with this URL. For one that nobody has a copy of yet.
    pub(crate) fn with_resource(mut self, resource: Option<Box<str>>) -> Self {
        if let Some(request) = Rc::get_mut(&mut self.of_request) {
            request.resource = resource;
        }
        self
    }

    /// The same context, with a way to tell the client something while it is in use. For one that nobody has a copy of yet.
    pub(crate) fn with_live(mut self, live: Live) -> Self {
        if let Some(request) = Rc::get_mut(&mut self.of_request) {
            request.live = Some(live);
        }
        self
    }

    /// The same context, for calls of the tools of `server`.
    pub(crate) fn of_server(self, server: &Rc<McpServer>) -> Self {
        Self { server: Some(server.clone()), ..self }
    }

    /// A context for calls that the program itself makes, by [`execute_tool`](McpServer::execute_tool): with the caller and the headers
    /// of `request`, on `host`. Nobody can be asked anything in it, nor be told how far the work has come.
    pub fn native(request: RequestInfo, host: Rc<dyn Host>) -> Self {
        let capabilities = ClientCapabilities::default();
        Self::new(request, RequestId::native(), Revision::V2026_07_28, None, capabilities, host)
    }

    /// The context of the tool `name` of `server` that is called within this one. `arguments` is JSON.
    pub(crate) fn within(&self, server: &Rc<McpServer>, name: &str, arguments: &str) -> Self {
        let path = self.has_rounds().then(|| Rc::new(self.path().of_call(name, arguments, self.exchange())));
        let of_request = self.of_request.clone();
        Self { of_request, server: Some(server.clone()), depth: self.depth.saturating_add(1), path }
    }

    /// The context of a step of this call. `input` is JSON: a step with another input is another step.
    pub(crate) fn within_step(&self, step: &str, input: &str) -> Self {
        let path = self.has_rounds().then(|| Rc::new(self.path().of_step(step, input, self.exchange())));
        Self { path, ..self.clone() }
    }

    /// Where in the call it is.
    pub(crate) fn path(&self) -> Rc<CallPath> {
        self.path.clone().unwrap_or_default()
    }

    /// Whether the call has had a round before, or may have another. If not, no step has to be remembered.
    pub(crate) fn has_rounds(&self) -> bool {
        self.exchange().has_rounds()
    }

    /// The result that an earlier round has remembered of the step whose context this is.
    pub(crate) fn remembered(&self) -> Option<Box<RawValue>> {
        self.exchange().result(self.path.as_ref()?.place())
    }

    /// Remembers the result of the step whose context this is, by its name for the log.
    pub(crate) fn remember(&self, step: &str, result: Box<RawValue>) {
        if let Some(path) = &self.path {
            self.exchange().remember(path.place(), step, result);
        }
    }

    /// Begins the step whose context this is, unless a question has been asked: then it waits for the round to end.
    pub(crate) async fn begin(&self, step: &str) -> Option<Running> {
        let path = self.path.as_ref()?;
        Some(Running::begin(&self.of_request.exchange, path.place(), step).await)
    }

    pub(crate) fn depth(&self) -> u8 {
        self.depth
    }

    pub(crate) fn server(&self) -> Option<&Rc<McpServer>> {
        self.server.as_ref()
    }

    /// Who calls; `None` on an endpoint without authentication.
    pub fn auth(&self) -> Option<&Principal> {
        self.of_request.request.principal()
    }

    /// The program that calls, as it names itself. For display and logs: anyone can claim any name.
    ///
    /// Clients of older revisions name themselves only when they open, so that this is `None` in their later requests.
    pub fn client_info(&self) -> Option<&Implementation> {
        self.of_request.request.asked.set(true);
        self.of_request.client.as_ref()
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
        self.of_request.request.asked.set(true);
        let meta = self.of_request.meta.as_deref()?;
        let document = Document::parse(meta.as_bytes(), JsonLimits::MOST).ok()?;
        document.root().get(name)?.to_json()
    }

    /// The URL that was asked, with what its sender says of the host: not to be believed in where something rests on it.
    pub fn url(&self) -> String {
        self.of_request.request.asked.set(true);
        self.of_request.request.head.url()
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
    /// It is sent at once, on the stream of the answer, if the server [declares](crate::server::McpServerBuilder::logging)
    /// log messages, and the client wants those of this level and takes such a stream; else it is dropped. It must hold no
    /// secret and nothing of the server's inside.
    pub fn log(&self, level: LogLevel, data: impl Serialize) {
        if let Some(live) = self.live() {
            live.outbox.log(level, &live.logger, data);
        }
    }

    /// Would send the client any other request, and wait for its reply.
    ///
    /// # Errors
    /// Always [`SessionRequired::SendRequest`]; what can be asked is asked by [`elicit`](Self::elicit), [`sample`](Self::sample)
    /// and [`roots`](Self::roots).
    pub fn send_request(&self, _method: &str) -> Result<(), SessionRequired> {
        Err(SessionRequired::SendRequest)
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
