//! The context of a call: the request that a handler answers.

use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use serde::Serialize;

use super::call_path::{CallPath, CurrentPath};
use super::connection::Connection;
use super::error::HandlerError;
use super::notifications::Outbox;
use super::request_info::{PerCaller, RequestInfo};
use super::result::ToolResult;
use super::rounds::Rounds;
use super::state::MissingState;
use crate::auth::Principal;
use crate::host::Host;
use crate::json::{Document, JsonLimits};
use crate::limits::STATE_BYTES;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::description::Implementation;
use crate::protocol::log_level::LogLevel;
use crate::protocol::message::RequestId;
use crate::protocol::revision::Revision;
use crate::schema::Schema;
use crate::text::{Text, shortened};

/// The tools of a server that handlers can call.
pub(crate) trait CallTools: Any {
    /// Returns the name of the server.
    fn name(&self) -> &str;

    /// Describes the tool `name`, if it exists for the caller of `cx` and the caller has the tool's scopes.
    fn callable(&self, name: &str, cx: &Context) -> Option<CallableTool>;

    /// Calls the tool `name` as a nested call of `cx`.
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

/// The context of a call: the caller, the request and the client. Cloning is cheap.
#[derive(Clone)]
pub struct Context {
    of_request: Rc<OfRequest>,
    tools: Option<Rc<dyn CallTools>>,
    /// The number of tool calls that contain this one.
    depth: u8,
    current_path: Rc<CurrentPath>,
}

/// The data that a request shares with all its nested calls.
struct OfRequest {
    request: RequestInfo,
    id: RequestId,
    revision: Revision,
    client: PerCaller<Option<Implementation>>,
    host: Rc<dyn Host>,
    rounds: Rc<Rounds>,
    /// The `_meta` of the parameters, as it was sent.
    meta: PerCaller<Option<Box<str>>>,
    traceparent: Option<Box<str>>,
    /// The configured URL of the endpoint.
    resource: Option<Box<str>>,
    live: Option<Live>,
}

/// The parts of a context whose response may become a stream.
pub(crate) struct Live {
    /// The notifications of the call.
    pub outbox: Outbox,
    /// The name of the server, for log messages.
    pub logger: Text,
    pub connection: Rc<Connection>,
    /// Whether the handler has called [`Context::cancelled`].
    pub is_watched: Cell<bool>,
}

/// The fields of a new context.
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
    /// The configured URL of the endpoint.
    pub resource: Option<Box<str>>,
    /// The maximum size of a request state, in bytes.
    pub state_limit: usize,
    pub live: Option<Live>,
}

impl Parts {
    /// Creates the parts of a request without information about its client.
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
            client: PerCaller::new(client),
            meta: PerCaller::new(meta),
            rounds: Rc::new(Rounds::new(capabilities, state_limit)),
            request,
            id,
            revision,
            host,
            traceparent,
            resource,
            live,
        };
        Self {
            of_request: Rc::new(of_request),
            tools,
            depth: 0,
            current_path: Rc::new(CurrentPath::new(CallPath::default())),
        }
    }

    /// Creates a context for calls that the program itself makes with [`execute_tool`](crate::McpServer::execute_tool), with the
    /// caller and the headers of `request`, on `host`. Such a context cannot ask a client for input, and it drops
    /// notifications.
    pub fn native(request: RequestInfo, host: Rc<dyn Host>) -> Self {
        Self::new(Parts::new(request, RequestId::native(), Revision::V2026_07_28, host), None)
    }

    /// Creates the context of a nested call of the tool `name`. `arguments` is JSON.
    pub(crate) fn within(&self, tools: Rc<dyn CallTools>, name: &str, arguments: &str) -> Self {
        Self { tools: Some(tools), depth: self.depth.saturating_add(1), ..self.at_call(name, arguments) }
    }

    /// Creates the context of the questions and steps that belong to a call of the tool `name`. `arguments` is JSON.
    pub(crate) fn at_call(&self, name: &str, arguments: &str) -> Self {
        let path = self.path().of_call(name, arguments, self.rounds());
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

    /// Returns the caller, or `None` on an endpoint without authentication.
    pub fn auth(&self) -> Option<&Principal> {
        self.of_request.request.principal()
    }

    /// Returns the name and version of the client. Use it for display and logs only: it is not verified.
    ///
    /// Clients of older revisions send it only in `initialize`, so it is `None` in their later requests.
    pub fn client_info(&self) -> Option<&Implementation> {
        self.of_request.client.read(&self.of_request.request).as_ref()
    }

    /// Returns the JSON-RPC id of the request.
    pub fn request_id(&self) -> &RequestId {
        &self.of_request.id
    }

    /// Returns the protocol revision of the request.
    pub fn revision(&self) -> Revision {
        self.of_request.revision
    }

    /// Returns the member `name` of the request's `_meta`, if the client sent it. Examples are `progressToken`, and
    /// members that a client and a server agree on, such as `example.com/tenant`.
    pub fn meta(&self, name: &str) -> Option<serde_json::Value> {
        let meta = self.of_request.meta.read(&self.of_request.request).as_deref()?;
        let document = Document::parse(meta.as_bytes(), JsonLimits::MOST).ok()?;
        document.root().get(name)?.to_json()
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
