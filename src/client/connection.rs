//! The connections of a client to its servers, for one call of a handler.

use std::cell::RefCell;
use std::rc::Rc;

use futures::lock::Mutex;
use http::HeaderValue;
use serde_json::value::RawValue;

use super::about::About;
use super::error::{ClientError, Failure};
use super::event_stream::EventStream;
use super::headers;
use super::list_cache::ListCache;
use super::listing::{ListLock, Listing};
use super::mcp_client::{McpClient, Server};
use super::negotiation::Known;
use super::of_call::OfCall;
use super::token_source::TokenSource;
use super::upstream::Upstream;
use crate::call::context::Context;
use crate::host::{Host, Outbound};
use crate::limits::UPSTREAM_LEGACY_SECONDS;
use crate::protocol::log_level::LogLevel;
use crate::protocol::revision::Revision;
use crate::text::{Text, shortened};

/// A connection to the servers of an [`McpClient`], for one call of a handler. Dropping it ends the sessions that it began.
///
/// Clones are the same connection.
#[derive(Clone)]
pub struct Connection(Rc<[Rc<Link>]>);

/// The connection to one server, for one call of a handler.
pub(super) struct Link {
    client: McpClient,
    server: Rc<Server>,
    of_call: Rc<OfCall>,
    token_source: Option<Rc<dyn TokenSource>>,
    session: RefCell<Option<Session>>,
    pub(super) negotiation: Mutex<()>,
    /// The event stream of the session.
    pub(super) standing_stream: Mutex<Option<EventStream>>,
    /// The description of the server, if the server sent it in this call.
    pub(super) about: RefCell<Option<About>>,
    /// The tools of the server, if they were listed in this call.
    pub(super) tools: RefCell<Option<Rc<Listing>>>,
    pub(super) list_locks: RefCell<Vec<ListLock>>,
}

/// The session of a legacy server, or its absence.
#[derive(Clone)]
pub(super) struct Session {
    pub revision: Revision,
    /// The id. `None` if the server has no sessions.
    pub id: Option<HeaderValue>,
    /// Whether the server sends log messages.
    pub logs: bool,
    /// The lowest level of log messages that the client has requested.
    pub log_level: Option<LogLevel>,
}

/// One server of a [`Connection`].
#[derive(Clone)]
pub struct Peer(pub(super) Rc<Link>);

impl McpClient {
    /// Creates a connection for the call of `cx`. It sends nothing.
    ///
    /// A connection belongs to one call of a handler: it uses the credentials for this call. Do not keep it for another call.
    pub fn connect(&self, cx: &Context) -> Connection {
        Connection::new(self.clone(), cx.clone())
    }
}

impl Connection {
    fn new(client: McpClient, cx: Context) -> Self {
        let of_call = Rc::new(OfCall::new(cx));
        let link = |server: &Rc<Server>| Rc::new(Link::new(client.clone(), server.clone(), of_call.clone()));
        Self(client.0.servers.iter().map(link).collect())
    }

    /// Returns the server `name`.
    ///
    /// # Errors
    /// The client has no server of this name.
    pub fn server(&self, name: &str) -> Result<Peer, ClientError> {
        let link = self.0.iter().find(|link| link.server.name == name);
        link.map(|link| Peer(link.clone())).ok_or_else(|| unknown(name, "is not a server of this client."))
    }

    /// Returns the server of a client that has one server.
    ///
    /// # Errors
    /// The client has no server, or several.
    pub fn only(&self) -> Result<Peer, ClientError> {
        match self.links() {
            [link] => Ok(Peer(link.clone())),
            _ => Err(unknown("", "The client does not have exactly one server. Name the server.")),
        }
    }
}

fn unknown(server: &str, problem: &str) -> ClientError {
    ClientError::new(&Text::Owned(shortened(server).into_owned()), "connect", Failure::Local(problem.into()))
}

impl Connection {
    pub(super) fn links(&self) -> &[Rc<Link>] {
        &self.0
    }
}

impl Link {
    pub(super) fn new(client: McpClient, server: Rc<Server>, of_call: Rc<OfCall>) -> Self {
        let token_source = server.upstream.token_source.as_ref().map(|source| source());
        Self {
            client,
            server,
            of_call,
            token_source,
            session: RefCell::default(),
            negotiation: Mutex::new(()),
            standing_stream: Mutex::new(None),
            about: RefCell::default(),
            tools: RefCell::default(),
            list_locks: RefCell::default(),
        }
    }

    /// Returns a link to the same server within the same call, with the session of this link.
    pub(super) fn successor(&self) -> Self {
        let mut successor = Self::new(self.client.clone(), self.server.clone(), self.of_call.clone());
        successor.session.swap(&self.session);
        successor.token_source.clone_from(&self.token_source);
        successor
    }

    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    pub(super) fn lists(&self) -> &ListCache {
        &self.client.0.lists
    }

    pub(super) fn upstream(&self) -> &Upstream {
        &self.server().upstream
    }

    pub(super) fn of_call(&self) -> &OfCall {
        &self.of_call
    }

    pub(super) fn cx(&self) -> &Context {
        &self.of_call.cx
    }

    pub(super) fn host(&self) -> &Rc<dyn Host> {
        self.of_call.cx.host()
    }

    pub(super) fn client_info(&self) -> &RawValue {
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
        let (learned, until) = *self.server().learned.borrow();
        let pinned = || self.upstream().revision.map_or(Known::Nothing, Known::of);
        if self.host().now_ms() < until { learned } else { pinned() }
    }

    /// Keeps the knowledge from an answer of the server.
    pub(super) fn learn(&self, known: Known) {
        let until = match known {
            Known::Modern(_) => u64::MAX,
            _ => self.host().now_ms().saturating_add(UPSTREAM_LEGACY_SECONDS.saturating_mul(1000)),
        };
        self.server().learned.replace((known, until));
    }

    /// Returns whether the program sets the revision of the server.
    pub(super) fn is_pinned(&self) -> bool {
        self.upstream().revision.is_some()
    }

    /// Returns whether `initialize` must come before the next request.
    pub(super) fn needs_session(&self, known: Known) -> bool {
        matches!(known, Known::WithSession(_)) && !self.has_session()
    }

    pub(super) fn begin_session(&self, session: Session) {
        self.session.replace(Some(session));
    }

    /// Returns whether there is a session with an id.
    pub(super) fn has_session(&self) -> bool {
        self.session.borrow().as_ref().is_some_and(|session| session.id.is_some())
    }

    /// Forgets the session, and returns it.
    pub(super) fn end_session(&self) -> Option<Session> {
        self.session.take()
    }

    /// Returns the session, if there is one.
    pub(super) fn session(&self) -> Option<Session> {
        self.session.borrow().clone()
    }

    /// Returns whether a request must lower the level of the log messages of the session, and records the level.
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

    /// Adds the headers of a session.
    pub(super) fn add_session(&self, request: &mut Outbound, session: Option<&Session>) {
        let revision = match (session, self.known()) {
            (Some(session), _) => session.revision,
            (None, Known::WithoutSession(revision)) => revision,
            // The headers of `initialize` name no revision.
            _ => return,
        };
        headers::add_session(request, revision, session.and_then(|session| session.id.clone()));
    }

    pub(super) fn token_source(&self) -> Option<&dyn TokenSource> {
        self.token_source.as_deref()
    }
}
