//! The use of a client within one call.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use futures::FutureExt;
use futures::lock::Mutex;
use http::{HeaderMap, HeaderValue};
use serde_json::value::RawValue;

use super::error::{ClientError, Failure};
use super::handlers::capabilities_json;
use super::headers;
use super::mcp_client::{McpClient, Server};
use super::message::Params;
use super::negotiation::Known;
use super::sse::EventReader;
use super::upstream::Upstream;
use crate::call::context::Context;
use crate::host::{Host, Opened};
use crate::json::write;
use crate::limits::UPSTREAM_REQUESTS;
use crate::protocol::description::{Implementation, Text};
use crate::protocol::log_level::LogLevel;
use crate::protocol::revision::Revision;

/// The use of an [`McpClient`] within one call. Dropping it ends the sessions that it began.
///
/// Clones are the same connection.
#[derive(Clone)]
pub struct Connection(Rc<Shared>);

struct Shared {
    links: Vec<Rc<Link>>,
}

/// The state that the links of a connection share.
struct OfCall {
    cx: Context,
    /// The number of requests that were sent.
    requests: Cell<usize>,
    next_id: Cell<u64>,
}

/// The use of one server within a call.
pub(super) struct Link {
    client: McpClient,
    server: Rc<Server>,
    of_call: Rc<OfCall>,
    session: RefCell<Option<Session>>,
    pub(super) negotiation: Mutex<()>,
    /// The event stream of the session, and its reader.
    pub(super) standing_stream: Mutex<Option<(Opened, EventReader)>>,
}

/// The session of a legacy server, or its absence.
#[derive(Clone)]
pub(super) struct Session {
    pub revision: Revision,
    /// The id. `None` if the server has no sessions.
    pub id: Option<HeaderValue>,
    /// Whether the server sends log messages.
    pub logs: bool,
    /// The level of log messages that the server got.
    pub log_level: Option<LogLevel>,
}

/// A server, within one call.
#[derive(Clone)]
pub struct Peer(pub(super) Rc<Link>);

impl McpClient {
    /// Creates a connection for the call of `cx`. It sends nothing.
    ///
    /// A connection belongs to one call: it uses the credentials of this call and ends with it.
    pub fn connect(&self, cx: &Context) -> Connection {
        Connection::new(self.clone(), cx.clone())
    }
}

impl Connection {
    fn new(client: McpClient, cx: Context) -> Self {
        let of_call = Rc::new(OfCall { cx, requests: Cell::new(0), next_id: Cell::new(1) });
        let link = |server: &Rc<Server>| {
            Rc::new(Link {
                client: client.clone(),
                server: server.clone(),
                of_call: of_call.clone(),
                session: RefCell::new(None),
                negotiation: Mutex::new(()),
                standing_stream: Mutex::new(None),
            })
        };
        let links = client.0.servers.iter().map(link).collect();
        Self(Rc::new(Shared { links }))
    }

    /// Returns the server `name`.
    ///
    /// # Errors
    /// The client has no server of this name.
    pub fn server(&self, name: &str) -> Result<Peer, ClientError> {
        let link = self.0.links.iter().find(|link| link.server.name == name);
        link.map(|link| Peer(link.clone())).ok_or_else(|| {
            let failure = Failure::Local("is not a server of this client.".into());
            ClientError::new(&Text::Owned(name.to_owned()), "connect", failure)
        })
    }
}

impl Connection {
    pub(super) fn links(&self) -> &[Rc<Link>] {
        &self.0.links
    }
}

impl Link {
    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    pub(super) fn upstream(&self) -> &Upstream {
        &self.server().upstream
    }

    pub(super) fn cx(&self) -> &Context {
        &self.of_call.cx
    }

    pub(super) fn host(&self) -> &Rc<dyn Host> {
        self.of_call.cx.host()
    }

    pub(super) fn client_info(&self) -> &Implementation {
        &self.client.0.info
    }

    pub(super) fn user_agent(&self) -> &HeaderValue {
        &self.client.0.user_agent
    }

    pub(super) fn traceparent(&self) -> Option<&str> {
        self.of_call.cx.traceparent()
    }

    /// Returns what is known about the server now.
    pub(super) fn known(&self) -> Known {
        let (known, until) = *self.server().known.borrow();
        if self.host().now_ms() < until { known } else { Known::Nothing }
    }

    /// Returns whether `initialize` must come before the next request.
    pub(super) fn needs_session(&self, known: Known) -> bool {
        matches!(known, Known::WithSession(_)) && self.session.borrow().is_none()
    }

    pub(super) fn begin_session(&self, session: Session) {
        self.session.replace(Some(session));
    }

    /// Forgets a session that the server has ended.
    pub(super) fn end_session(&self) {
        self.session.replace(None);
    }

    /// Returns whether the server has given this connection a session id.
    pub(super) fn has_session_id(&self) -> bool {
        self.session.borrow().as_ref().is_some_and(|session| session.id.is_some())
    }

    /// Returns whether the server must get a lower level of log messages, and records it.
    pub(super) fn lowers_log_level(&self, level: LogLevel) -> bool {
        let mut session = self.session.borrow_mut();
        let Some(session) = session.as_mut().filter(|session| session.id.is_some() && session.logs) else {
            return false;
        };
        let is_lower = session.log_level.is_none_or(|known| level < known);
        if is_lower {
            session.log_level = Some(level);
        }
        is_lower
    }

    /// Adds the headers of the session.
    pub(super) fn add_session(&self, headers: &mut HeaderMap) {
        let session = self.session.borrow();
        let revision = match (&*session, self.known()) {
            (Some(session), _) => session.revision,
            (None, Known::WithoutSession(revision)) => revision,
            // The headers of `initialize` name no revision.
            _ => return,
        };
        if revision >= Revision::V2025_06_18 {
            headers.insert(headers::VERSION, HeaderValue::from_static(revision.name()));
        }
        if let Some(id) = session.as_ref().and_then(|session| session.id.clone()) {
            headers.insert(headers::SESSION, id);
        }
    }

    pub(super) fn initialize_params(&self, revision: Revision) -> Params {
        let client = write::to_raw_value(self.client_info()).unwrap_or_default();
        let capabilities = capabilities_json(self.upstream().handlers.capabilities(), revision);
        Params::default()
            .with_text("protocolVersion", revision.name())
            .with("capabilities", RawValue::from_string(capabilities).unwrap_or_default())
            .with("clientInfo", client)
    }

    /// Returns a new id, as JSON text.
    pub(super) fn next_id(&self) -> String {
        let id = self.of_call.next_id.get();
        self.of_call.next_id.set(id.saturating_add(1));
        format!("\"{id}\"")
    }

    /// Counts a request. Returns `false` if the connection has sent all that it may send.
    pub(super) fn spend(&self) -> bool {
        let requests = self.of_call.requests.get();
        self.of_call.requests.set(requests.saturating_add(1));
        requests < UPSTREAM_REQUESTS
    }
}

/// Ends the session on the server. Nobody waits for the answer.
impl Drop for Link {
    fn drop(&mut self) {
        let Some(id) = self.session.take().and_then(|session| session.id) else { return };
        if !self.spend() {
            return;
        }
        let mut request = self.upstream().url.request(http::Method::DELETE, String::new());
        request.headers_mut().insert(headers::SESSION, id);
        let opening = self.upstream().transport.open(request, self.host());
        self.host().spawn(opening.map(drop).boxed_local());
    }
}
