//! The conversation with one server, for one call of a handler: what is known about the server, its session, and what the program adds to
//! each request.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use edge_json::write;
use futures::channel::oneshot;
use futures::lock::Mutex;
use http::{HeaderName, HeaderValue};

use super::budget::Budget;
use super::error::{ClientError, Failure, Unreachable};
use super::mcp_client::{McpClient, Server};
use super::operations::listing::Lists;
use super::session::about::About;
use super::session::negotiation::{Initialized, Knowledge};
use super::tokens::token_source::TokenSource;
use super::wire::exchange::ServerStream;
use super::wire::headers;
use crate::call::context::Context;
use crate::limits::{UPSTREAM_FORWARDED_BYTES, UPSTREAM_LEGACY_SECONDS};
use crate::text::Text;

/// The member of `_meta` with the names of the gateways through which a request came.
const VIA: &str = "edge-mcp/via";

/// The conversation with one server, for one call of a handler. Dropping it ends the session.
pub(super) struct Conversation {
    pub client: McpClient,
    pub server: Rc<Server>,
    pub cx: Context,
    /// The requests that the call may send to all its servers.
    pub budget: Rc<Budget>,
    pub credential: Rc<dyn TokenSource>,
    /// The assumption about the server that its last rejection leads to. A rejection may be about this caller or this request, so it proves
    /// nothing, and no other conversation gets the assumption.
    pub assumed: Cell<Option<Knowledge>>,
    pub session: RefCell<Option<Initialized>>,
    /// Held by the task that negotiates.
    pub negotiation: Mutex<()>,
    /// The URL of the next request. A redirect on the origin of the server changes it.
    pub url: Rc<RefCell<String>>,
    /// The cancellations that the server has not answered. Each ends when its sender is dropped.
    pub cancellations: RefCell<Vec<oneshot::Receiver<()>>>,
    /// The description of the server, if the server sent it in this call.
    pub about: RefCell<Option<About>>,
    /// The event stream of the session.
    pub standing_stream: Mutex<Option<ServerStream>>,
    /// The number of requests that were sent to the server in this call.
    pub sent: Cell<usize>,
    /// The number of times that the server said in this call that its lists have changed.
    pub list_changes: Cell<u64>,
    pub lists: Lists,
    /// Whether the call uses the server.
    is_used: Cell<bool>,
}

impl Conversation {
    pub(super) fn new(client: McpClient, server: Rc<Server>, budget: Rc<Budget>) -> Self {
        let credential = server.upstream.credential(&server.name, &budget);
        let url = Rc::new(RefCell::new(server.upstream.url.as_str().to_owned()));
        Self {
            client,
            server,
            cx: budget.cx.clone(),
            budget,
            credential,
            assumed: Cell::new(None),
            session: RefCell::default(),
            negotiation: Mutex::default(),
            url,
            cancellations: RefCell::default(),
            about: RefCell::default(),
            standing_stream: Mutex::new(None),
            sent: Cell::new(0),
            list_changes: Cell::new(0),
            lists: Lists::default(),
            is_used: Cell::new(false),
        }
    }

    /// Counts the server once among those that the call uses.
    pub(super) fn begin_use(&self) {
        if !self.is_used.replace(true) {
            self.budget.add_server();
        }
    }

    /// Returns a function that names this server and `method` in an error.
    pub(super) fn error_of(&self, method: impl Into<Text>) -> impl Fn(ClientError) -> ClientError {
        let method = method.into();
        move |error| {
            let is_hidden = matches!(error.failure(), Failure::Unreachable(_) | Failure::Timeout(_));
            let error = if self.server.upstream.is_untrusted && is_hidden {
                // The user who chose the URL must not learn which hosts exist.
                error.with_failure(Failure::Unreachable(Unreachable::Connection))
            } else {
                error
            };
            error.named(&self.server.name, method.clone())
        }
    }

    /// Counts a notification that the lists of the server have changed.
    pub(super) fn notice_list_change(&self) {
        for changes in [&self.list_changes, &self.server.changes] {
            changes.set(changes.get().wrapping_add(1));
        }
        self.client.0.lists.forget(&self.server.name);
    }
}

/// The knowledge about the server, and the session.
impl Conversation {
    /// Returns what is known about the server now, or assumed.
    pub(super) fn known(&self) -> Knowledge {
        self.assumed.get().unwrap_or_else(|| self.learned())
    }

    /// Returns what all conversations know about the server.
    pub(super) fn learned(&self) -> Knowledge {
        let (learned, until) = *self.server.learned.borrow();
        let pinned = || self.server.upstream.revision.map_or(Knowledge::Nothing, Knowledge::of);
        if self.cx.host().now_ms() < until { learned } else { pinned() }
    }

    /// Keeps the knowledge from a result of the server, for all conversations.
    pub(super) fn learn(&self, known: Knowledge) {
        self.assumed.set(None);
        let until = match known {
            Knowledge::Modern(_) => u64::MAX,
            _ => self.cx.host().now_ms().saturating_add(UPSTREAM_LEGACY_SECONDS.saturating_mul(1000)),
        };
        self.server.learned.replace((known, until));
    }

    pub(super) fn is_pinned(&self) -> bool {
        self.server.upstream.revision.is_some()
    }

    /// Returns whether `initialize` must come before the next request.
    pub(super) fn needs_session(&self, known: Knowledge) -> bool {
        matches!(known, Knowledge::WithSession(_)) && !self.has_session()
    }

    pub(super) fn has_session(&self) -> bool {
        self.session.borrow().as_ref().is_some_and(|session| session.id.is_some())
    }
}

/// The headers and the members of `_meta` that the program adds to each request.
impl Conversation {
    /// Returns the headers of the program, and those of the caller's request that the program passes on.
    pub(super) fn own_headers(&self) -> Cow<'_, [(HeaderName, HeaderValue)]> {
        let upstream = &self.server.upstream;
        let mut headers = Cow::Borrowed(&*upstream.headers);
        for name in &upstream.forwarded_headers {
            let value = self.cx.header(name.as_str()).filter(|value| value.len() <= UPSTREAM_FORWARDED_BYTES);
            if let Some(value) = value.and_then(|value| headers::visible(&value)) {
                headers.to_mut().push((name.clone(), value));
            }
        }
        headers
    }

    /// Returns the members of the `_meta` of the caller's request that the program passes on: names, and values as JSON text.
    pub(super) fn forwarded_meta(&self) -> Vec<(String, String)> {
        let text = |name: &str| Some(write::text(&self.cx.meta(name)?));
        let forwarded = self.server.upstream.forwarded_meta.iter();
        let forwarded = forwarded.filter_map(|name| Some((name.to_string(), text(name)?)));
        forwarded.filter(|(_, value)| value.len() <= UPSTREAM_FORWARDED_BYTES).collect()
    }

    /// Returns the members of `_meta` that the program adds. A gateway adds its name to those of the gateways before it.
    pub(super) fn own_meta(&self) -> Vec<(String, String)> {
        let mut own = self.forwarded_meta();
        if let Some(gateway) = &self.client.0.gateway {
            let via = gateways(&self.cx).chain([gateway.to_string()]).map(serde_json::Value::from).collect();
            own.push((VIA.to_owned(), write::text(&serde_json::Value::Array(via))));
        }
        own
    }
}

/// Returns the names of the gateways through which the request of `cx` came.
pub(crate) fn gateways(cx: &Context) -> impl Iterator<Item = String> {
    let names = cx.meta(VIA).and_then(|names| names.as_array().cloned()).unwrap_or_default();
    names.into_iter().filter_map(|name| Some(name.as_str()?.to_owned()))
}
