//! A JSON-RPC request to a server, before it is sent.

use std::cell::Cell;
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

/// The headers that repeat arguments of a call: name and value.
pub(in crate::client) type HeaderParams = Vec<(String, String)>;

/// A function that asks the server for the definition of the tool, and returns the headers that this definition requires. It returns `None`
/// if there is no definition.
pub(in crate::client) type NewHeaders =
    Rc<dyn Fn() -> LocalBoxFuture<'static, Option<Result<HeaderParams, ClientError>>>>;

/// The wait for the task with which a server may answer a tool call.
#[derive(Clone, Copy, Default)]
pub(in crate::client) struct TaskWait {
    /// The longest time to wait. `None` means the default.
    pub time: Option<Duration>,
    /// Whether the task is cancelled after this time. Otherwise, the program gets it.
    pub cancels_late: bool,
    /// The program gets a task at once instead of its result, if the id as JSON text is not longer than this.
    pub longest_passed_id: Option<usize>,
}

/// A request to a server.
#[derive(Clone)]
pub(in crate::client) struct Outgoing {
    pub method: Text,
    pub params: Params,
    /// The name or the URI that the header `Mcp-Name` repeats.
    pub target: Option<String>,
    /// The arguments of a call as JSON text, and the headers that repeat some of them.
    pub arguments: Rc<str>,
    pub header_params: HeaderParams,
    /// The source of other headers, if the server rejects those.
    pub new_headers: Option<NewHeaders>,
    /// Whether the request may be the first one to a server. A legacy server without sessions would execute a call.
    pub may_probe: bool,
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
    /// The wait for the task with which a server may answer a tool call.
    pub task_wait: TaskWait,
    /// The number of bytes of all answers to the request, and its limit.
    pub received: Rc<Cell<usize>>,
    pub most_bytes: usize,
    /// The number of questions of a legacy server on the event streams of the request. Clones share it.
    pub questions: Rc<Cell<usize>>,
    /// The number of times that the request was sent again, in all its rounds. Clones share it.
    pub repetitions: Rc<Cell<usize>>,
    /// Whether the request was sent, and its answer has not arrived. Clones share it.
    pub is_in_flight: Rc<Cell<bool>>,
}

impl Outgoing {
    pub(in crate::client) fn new(method: Method, params: Params, timeout: Duration) -> Self {
        let is_harmless = method != Method::CallTool;
        Self {
            may_probe: is_harmless,
            is_repeatable: is_harmless,
            ..Self::of_extension(method.name().into(), params, timeout)
        }
    }

    /// Creates a request of an extension, which may have effects.
    pub(in crate::client) fn of_extension(method: Text, params: Params, timeout: Duration) -> Self {
        Self {
            method,
            params,
            target: None,
            arguments: Rc::default(),
            header_params: Vec::new(),
            new_headers: None,
            may_probe: false,
            is_repeatable: false,
            result_types: Vec::new(),
            timeout,
            deadline: None,
            capabilities: None,
            listeners: Listeners::default(),
            task_wait: TaskWait::default(),
            received: Rc::default(),
            most_bytes: usize::MAX,
            questions: Rc::default(),
            repetitions: Rc::default(),
            is_in_flight: Rc::default(),
        }
    }

    /// Returns whether the server may answer with a task.
    pub(super) fn may_be_task(&self) -> bool {
        self.method == Method::CallTool.name()
    }

    /// Returns whether the protocol defines the members of the result. The method of an extension may give null a meaning.
    pub(super) fn is_of_protocol(&self) -> bool {
        Method::named(&self.method).is_some() || self.is_of_task()
    }

    /// Returns whether the request is about a task, which only a modern server can have.
    pub(super) fn is_of_task(&self) -> bool {
        task::METHODS.contains(&&*self.method)
    }

    /// Counts a repetition. Returns `false` if the request cannot be sent again.
    pub(super) fn repeats(&self) -> bool {
        let repetitions = self.repetitions.get();
        self.repetitions.set(repetitions.saturating_add(1));
        repetitions < UPSTREAM_REPETITIONS
    }
}
