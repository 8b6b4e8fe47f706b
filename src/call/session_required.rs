//! Features that need a session, and the errors for them.
//!
//! A server without sessions answers each request independently of other requests. It cannot route a later reply to a waiting call,
//! remember a subscription, or push a message. A request that depends on one of these features gets an error that names the feature, the
//! reason, and the alternative. The server never declares such a feature as a capability.
//!
//! For a method, the error is −32601 with [`SessionRequired::data`]. For a tool, it is a result with `isError`. For a prompt or a resource,
//! it is −32603 with the same data.

use std::fmt;

use edge_json::object;
use serde_json::Value;

use crate::protocol::error::{ErrorCode, RpcError};

/// A feature that needs a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionRequired {
    /// `elicitation/create` from the server, up to 2025-11-25.
    Elicitation,
    /// `sampling/createMessage` from the server, up to 2025-11-25.
    Sampling,
    /// `roots/list` from the server, up to 2025-11-25.
    Roots,
    /// `resources/subscribe`.
    Subscribe,
    /// `resources/unsubscribe`.
    Unsubscribe,
    /// `logging/setLevel`, which sets the level for later requests.
    SetLogLevel,
    /// A GET on the endpoint, for messages from the server.
    ServerStream,
    /// A DELETE on the endpoint, which ends a session.
    EndSession,
    /// The methods of tasks. They do not need a session but a store, and a client with the tasks extension.
    Tasks,
}

/// The methods that need a session.
const METHODS: [(&str, SessionRequired); 8] = [
    ("resources/subscribe", SessionRequired::Subscribe),
    ("resources/unsubscribe", SessionRequired::Unsubscribe),
    ("logging/setLevel", SessionRequired::SetLogLevel),
    ("tasks/get", SessionRequired::Tasks),
    ("tasks/result", SessionRequired::Tasks),
    ("tasks/list", SessionRequired::Tasks),
    ("tasks/cancel", SessionRequired::Tasks),
    ("tasks/update", SessionRequired::Tasks),
];

/// The texts of an error.
struct Texts {
    feature: &'static str,
    reason: &'static str,
    alternative: &'static str,
}

const fn texts(feature: &'static str, reason: &'static str, alternative: &'static str) -> Texts {
    Texts { feature, reason, alternative }
}

const NO_REPLY: &str = "the client's reply is another request, which cannot be routed to the waiting call";
const NO_STATE: &str = "the server does not keep state between requests";
const NO_TASKS: &str = "the server has no store for tasks of this kind";
const USE_NEWEST: &str = "use a client of 2026-07-28, which repeats the call with the answer";

impl SessionRequired {
    const fn texts(self) -> Texts {
        match self {
            Self::Elicitation => texts("elicitation", NO_REPLY, USE_NEWEST),
            Self::Sampling => texts("sampling", NO_REPLY, USE_NEWEST),
            Self::Roots => texts("roots", NO_REPLY, USE_NEWEST),
            Self::Subscribe => {
                texts("resources/subscribe", NO_STATE, "list or read again when you need the newest state")
            }
            Self::Unsubscribe => {
                texts("resources/unsubscribe", NO_STATE, "do nothing: there is no subscription to end")
            }
            Self::SetLogLevel => texts(
                "logging/setLevel",
                NO_STATE,
                "use a client of 2026-07-28, which names its log level in the `_meta` of each request",
            ),
            Self::ServerStream => texts(
                "GET",
                "the server has no connection to a client after it has answered",
                "send each request by POST; its answer contains everything",
            ),
            Self::EndSession => texts("DELETE", "there is no session to end", "stop sending requests"),
            Self::Tasks => texts("tasks", NO_TASKS, "call the tool, which answers all clients"),
        }
    }

    /// Returns the feature that `method` belongs to, if it needs a session.
    pub(crate) fn of_method(method: &str) -> Option<Self> {
        METHODS.iter().find(|(known, _)| *known == method).map(|(_, feature)| *feature)
    }

    /// Creates the JSON-RPC error with this code.
    pub(crate) fn error(self, code: ErrorCode) -> RpcError {
        RpcError::new(code, self.to_string()).with_data(self.data())
    }

    /// Returns the `data` of the JSON-RPC error: the strings `feature`, `mode`, `reason` and `alternative`.
    pub fn data(self) -> Value {
        let Texts { feature, reason, alternative } = self.texts();
        let (reason, alternative) = (reason.into(), alternative.into());
        object(vec![
            ("feature", feature.into()),
            ("mode", "serverless".into()),
            ("reason", reason),
            ("alternative", alternative),
        ])
    }
}

impl fmt::Display for SessionRequired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Texts { feature, reason, alternative } = self.texts();
        if *self == Self::Tasks {
            return write!(f, "{feature} need a store: {reason}. Instead, {alternative}.");
        }
        write!(f, "{feature} needs a session, and this server is serverless: {reason}. Instead, {alternative}.")
    }
}

impl std::error::Error for SessionRequired {}
