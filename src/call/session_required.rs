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

/// A feature that needs a session, with the texts of its error.
#[derive(Debug)]
pub(crate) struct SessionRequired {
    feature: &'static str,
    /// The predicate of the first sentence, whose subject is the feature.
    need: &'static str,
    reason: &'static str,
    alternative: &'static str,
}

const NO_REPLY: &str = "the client's reply is another request, which cannot be routed to the waiting call";
const NO_STATE: &str = "the server does not keep state between requests";
const USE_NEWEST: &str = "use a client of 2026-07-28, which repeats the call with the answer";

/// Elicitation, sampling and roots: requests of the server, up to 2025-11-25.
pub(crate) const ELICITATION: SessionRequired = feature("elicitation", NO_REPLY, USE_NEWEST);
pub(crate) const SAMPLING: SessionRequired = feature("sampling", NO_REPLY, USE_NEWEST);
pub(crate) const ROOTS: SessionRequired = feature("roots", NO_REPLY, USE_NEWEST);
/// A GET on the endpoint, for messages from the server.
pub(crate) const SERVER_STREAM: SessionRequired = feature(
    "GET",
    "the server has no connection to a client after it has answered",
    "send each request by POST; its answer contains everything",
);
/// A DELETE on the endpoint, which ends a session.
pub(crate) const END_SESSION: SessionRequired =
    feature("DELETE", "there is no session to end", "stop sending requests");
/// The methods of tasks. They do not need a session but a store, and a client with the tasks extension.
pub(crate) const TASKS: SessionRequired = SessionRequired {
    need: "need a store",
    ..feature("tasks", "the server has no store for tasks of this kind", "call the tool, which answers all clients")
};
const SUBSCRIBE: SessionRequired =
    feature("resources/subscribe", NO_STATE, "list or read again when you need the newest state");
const UNSUBSCRIBE: SessionRequired =
    feature("resources/unsubscribe", NO_STATE, "do nothing: there is no subscription to end");
/// `logging/setLevel` sets the level for later requests.
const SET_LOG_LEVEL: SessionRequired = feature(
    "logging/setLevel",
    NO_STATE,
    "use a client of 2026-07-28, which names its log level in the `_meta` of each request",
);

const fn feature(feature: &'static str, reason: &'static str, alternative: &'static str) -> SessionRequired {
    SessionRequired { feature, need: "needs a session, and this server is serverless", reason, alternative }
}

impl SessionRequired {
    /// Returns the feature that `method` belongs to, if it needs a session.
    pub(crate) fn of_method(method: &str) -> Option<Self> {
        match method {
            "resources/subscribe" => Some(SUBSCRIBE),
            "resources/unsubscribe" => Some(UNSUBSCRIBE),
            "logging/setLevel" => Some(SET_LOG_LEVEL),
            "tasks/get" | "tasks/result" | "tasks/list" | "tasks/cancel" | "tasks/update" => Some(TASKS),
            _ => None,
        }
    }

    /// Creates the JSON-RPC error with this code.
    pub(crate) fn error(&self, code: ErrorCode) -> RpcError {
        RpcError::new(code, self.to_string()).with_data(self.data())
    }

    /// Returns the `data` of the JSON-RPC error.
    pub(crate) fn data(&self) -> Value {
        object(vec![
            ("feature", self.feature.into()),
            ("mode", "serverless".into()),
            ("reason", self.reason.into()),
            ("alternative", self.alternative.into()),
        ])
    }
}

impl fmt::Display for SessionRequired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { feature, need, reason, alternative } = self;
        write!(f, "{feature} {need}: {reason}. Instead, {alternative}.")
    }
}
