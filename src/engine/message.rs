//! A message and its caller, as a host of the engine gives them.

use std::rc::Rc;

use super::head::BoundedRequest;
use crate::auth::Principal;
use crate::call::client_extensions::CapabilitySource;
use crate::call::journal::Journal;
use crate::call::rounds::Earlier;
use crate::host::Host;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::message::Request;
use crate::protocol::revision::Revision;

/// A request whose revision is known.
#[derive(Debug)]
pub(crate) struct Message<'d> {
    pub request: Request<'d>,
    pub revision: Revision,
    /// The questions that the client can answer.
    pub capabilities: ClientCapabilities,
    /// The place in which the client declares its extensions.
    pub declared: CapabilitySource,
}

/// Who sends a message, and how it can be answered. The messages of a batch share it.
pub(crate) struct Caller {
    pub head: Rc<BoundedRequest>,
    pub principal: Option<Principal>,
    pub host: Rc<dyn Host>,
    /// Whether the client accepts a stream as the answer.
    pub accepts_stream: bool,
    /// The journal and the answers of an attempt of a durable task.
    pub attempt: Option<Attempt>,
}

/// The state of an attempt of a durable task, besides its call.
pub(crate) struct Attempt {
    pub journal: Rc<dyn Journal>,
    pub earlier: Earlier,
    /// The maximum size of the response, in bytes.
    pub response_limit: usize,
}
