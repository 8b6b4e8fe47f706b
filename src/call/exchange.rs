//! The data that a request shares with all its nested calls.

use std::cell::Cell;
use std::rc::Rc;

use edge_json::write;

use super::connection::ClientConnection;
use super::notifications::Outbox;
use super::request_info::RequestInfo;
use super::rounds::Rounds;
use super::trace::Trace;
use crate::host::Host;
use crate::protocol::message::RequestId;
use crate::protocol::revision::Revision;
use crate::text::Text;

/// The data that a request shares with all its nested calls.
pub(crate) struct Exchange {
    pub request: RequestInfo,
    pub id: RequestId,
    pub revision: Revision,
    pub host: Rc<dyn Host>,
    pub rounds: Rc<Rounds>,
    /// The place of the request in a trace, if it has one.
    pub trace: Option<Rc<Trace>>,
    pub live: Option<Live>,
}

/// The parts of a context whose response may become a stream.
pub(crate) struct Live {
    /// The notifications of the call.
    pub outbox: Outbox,
    /// The name of the server, for log messages.
    pub logger: Text,
    pub connection: Rc<ClientConnection>,
    /// Whether the handler has called [`Context::cancelled`](super::context::Context::cancelled).
    pub is_watched: Cell<bool>,
}

impl Live {
    /// Sends a notification of the subscription that the request `id` began, and returns whether it was sent. `params` is an object with members.
    ///
    /// Source: 2026-07-28, basic/patterns/subscriptions.
    pub(crate) fn send_of_subscription(&self, id: &RequestId, method: &'static str, params: &str) -> bool {
        // The id is copied as text, because a number may exceed every number type.
        let (id, members) = (id.as_json(), params.strip_prefix('{').unwrap_or_default());
        let params = format!("{{\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{id}}},{members}");
        self.outbox.subscribed(method, &write::raw_value(params))
    }
}
