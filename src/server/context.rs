//! What a server function and a handler can learn of the request.

use std::cell::Cell;
use std::rc::Rc;

use crate::auth::Principal;
use crate::host::{Host, RequestHead, path_of};
use crate::protocol::description::Implementation;
use crate::protocol::message::RequestId;
use crate::protocol::revision::Revision;

/// The HTTP request that a server is built for.
#[derive(Clone)]
pub struct RequestInfo {
    pub(crate) head: Rc<dyn RequestHead>,
    pub(crate) principal: Option<Rc<Principal>>,
    asked: Rc<Cell<bool>>,
}

impl RequestInfo {
    pub(crate) fn new(head: Rc<dyn RequestHead>, principal: Option<Principal>) -> Self {
        Self { head, principal: principal.map(Rc::new), asked: Rc::default() }
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

    /// The path of the URL, without the query.
    pub fn path(&self) -> String {
        path_of(&self.head.url()).to_owned()
    }

    /// Who calls; `None` on an endpoint without authentication.
    pub fn principal(&self) -> Option<&Principal> {
        self.asked.set(true);
        self.principal.as_deref()
    }
}

/// The request that a handler answers. Cheap to clone.
#[derive(Clone)]
pub struct Context(Rc<Inner>);

struct Inner {
    request: RequestInfo,
    id: RequestId,
    revision: Revision,
    client: Option<Implementation>,
    host: Host,
}

impl Context {
    pub(crate) fn new(
        request: RequestInfo,
        id: RequestId,
        revision: Revision,
        client: Option<Implementation>,
        host: Host,
    ) -> Self {
        Self(Rc::new(Inner { request, id, revision, client, host }))
    }

    /// Who calls; `None` on an endpoint without authentication.
    pub fn auth(&self) -> Option<&Principal> {
        self.0.request.principal()
    }

    /// The program that calls, as it names itself. For display and logs: anyone can claim any name.
    ///
    /// Clients of older revisions name themselves only when they open, so that this is `None` in their later requests.
    pub fn client_info(&self) -> Option<&Implementation> {
        self.0.request.asked.set(true);
        self.0.client.as_ref()
    }

    /// The JSON-RPC id of the request.
    pub fn request_id(&self) -> &RequestId {
        &self.0.id
    }

    /// The revision of the protocol that the request is written in.
    pub fn revision(&self) -> Revision {
        self.0.revision
    }

    /// The HTTP header of that name, whatever its case.
    pub fn header(&self, name: &str) -> Option<String> {
        self.0.request.header(name)
    }

    /// Milliseconds since 1970-01-01T00:00:00Z, by the host's clock.
    pub fn now_ms(&self) -> u64 {
        self.0.host.clock.now_ms()
    }

    pub(crate) fn depends_on_caller(&self) -> bool {
        self.0.request.depends_on_caller()
    }

    pub(crate) fn host(&self) -> &Host {
        &self.0.host
    }
}
