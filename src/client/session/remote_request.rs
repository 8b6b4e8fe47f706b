//! A JSON-RPC request to a server, and the state of its attempts.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use futures::future::LocalBoxFuture;

use super::listeners::Listeners;
use crate::client::error::ClientError;
use crate::client::wire::message::Params;
use crate::client::wire::task;
use crate::limits::UPSTREAM_REPETITIONS;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::method::Method;
use crate::text::Text;

pub(in crate::client) type HeaderParams = Vec<(String, String)>;

/// A function that asks the server for the definition of the tool, and returns the headers that this definition requires. It returns `None`
/// if there is no definition.
pub(in crate::client) type NewHeaders =
    Rc<dyn Fn() -> LocalBoxFuture<'static, Option<Result<HeaderParams, ClientError>>>>;

/// A request to a server.
#[derive(Clone)]
pub(in crate::client) struct RemoteRequest {
    pub method: Text,
    pub params: Params,
    /// The name or the URI that the header `Mcp-Name` repeats.
    pub target: Option<String>,
    /// The source of other headers, if the server rejects those that repeat arguments.
    pub new_headers: Option<NewHeaders>,
    /// Whether the request may be sent again if it is not known whether the server executed it.
    pub is_repeatable: bool,
    pub timeout: Duration,
    /// The time at which the request ends with all its repetitions, in milliseconds since 1970.
    pub deadline: Option<u64>,
    /// The types of results that the program knows, besides those of the protocol.
    pub result_types: Vec<Text>,
    /// The capabilities to declare. `None` means the questions that the program answers.
    pub capabilities: Option<ClientCapabilities>,
    pub listeners: Listeners,
    /// The limit of the bytes of all answers.
    pub most_bytes: usize,
    /// The state of the attempts. Clones share it: the rounds of a request, and the pages of a list.
    pub attempts: Rc<RequestAttempts>,
}

/// The state of the attempts of a request, in all its rounds.
#[derive(Default)]
pub(in crate::client) struct RequestAttempts {
    /// The number of bytes of all answers.
    pub received: Rc<Cell<usize>>,
    /// The number of questions of a legacy server on the event streams of the request.
    pub questions: Cell<usize>,
    /// The number of times that the request was sent again.
    pub repetitions: Cell<usize>,
    /// Whether the request was sent, and its answer has not arrived.
    pub is_in_flight: Cell<bool>,
    /// The headers that repeat arguments of the call. Another definition of the tool may require others.
    pub header_params: RefCell<HeaderParams>,
}

impl RemoteRequest {
    pub(in crate::client) fn new(method: Method, params: Params, timeout: Duration) -> Self {
        let is_repeatable = method != Method::CallTool;
        Self { is_repeatable, ..Self::with_effects(method.name(), params, timeout) }
    }

    /// Creates a request that may have effects, such as that of an extension.
    pub(in crate::client) fn with_effects(method: impl Into<Text>, params: Params, timeout: Duration) -> Self {
        Self {
            method: method.into(),
            params,
            target: None,
            new_headers: None,
            is_repeatable: false,
            timeout,
            deadline: None,
            result_types: Vec::new(),
            capabilities: None,
            listeners: Listeners::default(),
            most_bytes: usize::MAX,
            attempts: Rc::default(),
        }
    }

    pub(in crate::client) fn with_target(self, target: &str) -> Self {
        Self { target: Some(target.to_owned()), ..self }
    }

    /// Returns whether this is the call of a tool, whose answer may be a task.
    pub(super) fn is_call(&self) -> bool {
        self.method == Method::CallTool.name()
    }

    /// Returns whether the request may be the first one to a server. A legacy server without sessions would execute a call.
    pub(super) fn may_probe(&self) -> bool {
        Method::named(&self.method).is_some() && !self.is_call()
    }

    /// Returns whether the protocol defines the members of the result. The method of an extension may give null a meaning.
    pub(super) fn is_of_protocol(&self) -> bool {
        Method::named(&self.method).is_some() || self.is_of_task()
    }

    /// Returns whether the request is about a task, which only a modern server can have.
    pub(super) fn is_of_task(&self) -> bool {
        task::METHODS.contains(&&*self.method)
    }
}

impl RequestAttempts {
    /// Counts a repetition. Returns `false` if the request cannot be sent again.
    pub(super) fn repeat(&self) -> bool {
        let repetitions = self.repetitions.get();
        self.repetitions.set(repetitions.saturating_add(1));
        repetitions < UPSTREAM_REPETITIONS
    }
}
