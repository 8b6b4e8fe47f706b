//! Refusals of what needs a session, in one place and in one voice.
//!
//! A server that answers each request alone cannot lead a later reply back to a call that waits for it, remember a
//! subscription, or push a message. Whatever rests on one of these is refused here: what was asked for, why it cannot be
//! had, and what to do instead. Nothing that is refused here is ever declared as a capability, and nothing pretends.
//!
//! A method answers -32601 with [`SessionRequired::data`]; a tool, a result with `isError`; a prompt or a resource, -32603
//! with the same data; a Rust call, this value as its error.

use std::fmt;

use serde_json::{Value, json};

use super::builder::McpServer;
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
    /// Any request to the client from within a handler.
    SendRequest,
    /// `resources/subscribe` and `resources/unsubscribe`.
    ResourceSubscription,
    /// `notifications/resources/updated`.
    ResourceUpdated,
    /// The `list_changed` notifications.
    ListChanged,
    /// `logging/setLevel`, which is to hold for later requests.
    SetLogLevel,
    /// A GET on the endpoint, for messages of the server.
    ServerStream,
    /// A DELETE on the endpoint, which ends a session.
    EndSession,
    /// `Last-Event-ID`, and the store of events behind it.
    Resumption,
    /// The tasks of 2025-11-25.
    Tasks,
    /// A session's id, its generator, and the call when it begins.
    SessionId,
    /// The stdio transport.
    Stdio,
    /// The HTTP+SSE transports.
    HttpSse,
    /// `serverless = false`.
    Stateful,
}

/// What a refusal says: one row per feature.
struct Wording {
    feature: &'static str,
    reason: &'static str,
    instead: &'static str,
}

const fn says(feature: &'static str, reason: &'static str, instead: &'static str) -> Wording {
    Wording { feature, reason, instead }
}

const NO_WAY_BACK: &str =
    "the client's reply would be another request, which could not be led back to the call that waits";
const NOT_REMEMBERED: &str = "it would have to be remembered between requests";
const NO_PUSH: &str = "there is no connection to a client after its request is answered";
const USE_NEWEST: &str = "use a client that speaks 2026-07-28, where the question and its answer travel with the call";
const ASK_AGAIN: &str = "list or read again; ttlMs says when that is worth it";

impl SessionRequired {
    const fn wording(self) -> Wording {
        match self {
            Self::Elicitation => says("elicitation", NO_WAY_BACK, USE_NEWEST),
            Self::Sampling => says("sampling", NO_WAY_BACK, USE_NEWEST),
            Self::Roots => says("roots", NO_WAY_BACK, USE_NEWEST),
            Self::SendRequest => says("sendRequest", NO_WAY_BACK, USE_NEWEST),
            Self::ResourceSubscription => says("resources/subscribe", NOT_REMEMBERED, ASK_AGAIN),
            Self::ResourceUpdated => says("notifications/resources/updated", NO_PUSH, ASK_AGAIN),
            Self::ListChanged => says("list_changed", NO_PUSH, ASK_AGAIN),
            Self::SetLogLevel => says(
                "logging/setLevel",
                NOT_REMEMBERED,
                "name the level in each request, as 2026-07-28 does in its _meta",
            ),
            Self::ServerStream => says("GET", NO_PUSH, "send each request by POST; its answer comes with it"),
            Self::EndSession => says("DELETE", "there is no session to end", "just stop; nothing is kept"),
            Self::Resumption => {
                says("Last-Event-ID", "events are not kept once they are sent", "send the request again")
            }
            Self::Tasks => says("tasks", NOT_REMEMBERED, "call the tool, and wait for its result"),
            Self::SessionId => says("session id", "nothing outlives a request", "pass what is to last as an argument"),
            Self::Stdio => says("stdio", "a Worker has no process whose streams it could use", "connect over HTTP"),
            Self::HttpSse => says(
                "the HTTP+SSE transport",
                "its answers travel on another connection than its requests",
                "connect over streamable HTTP",
            ),
            Self::Stateful => says("serverless = false", "each request is answered alone", "leave the setting out"),
        }
    }

    /// The feature behind a method, if that needs a session.
    pub(crate) fn of_method(method: &str) -> Option<Self> {
        const METHODS: [(&str, SessionRequired); 7] = [
            ("resources/subscribe", SessionRequired::ResourceSubscription),
            ("resources/unsubscribe", SessionRequired::ResourceSubscription),
            ("logging/setLevel", SessionRequired::SetLogLevel),
            ("tasks/get", SessionRequired::Tasks),
            ("tasks/result", SessionRequired::Tasks),
            ("tasks/list", SessionRequired::Tasks),
            ("tasks/cancel", SessionRequired::Tasks),
        ];
        METHODS.iter().find(|(known, _)| *known == method).map(|(_, feature)| *feature)
    }

    /// The JSON-RPC error of that code, with the text and the [`data`](Self::data).
    pub(crate) fn error(self, code: ErrorCode) -> RpcError {
        RpcError::new(code, self.to_string()).with_data(self.data())
    }

    /// The `data` of the JSON-RPC error: `feature`, `mode`, `reason` and `alternative`, all strings.
    pub fn data(self) -> Value {
        let Wording { feature, reason, instead } = self.wording();
        json!({ "feature": feature, "mode": "serverless", "reason": reason, "alternative": instead })
    }
}

impl fmt::Display for SessionRequired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Wording { feature, reason, instead } = self.wording();
        write!(f, "{feature} needs a session, and this server is serverless: {reason}. Instead, {instead}.")
    }
}

impl std::error::Error for SessionRequired {}

/// What a server with sessions could do at any time. Here each call is an error that says what to do instead.
impl McpServer {
    /// Would tell subscribers that a resource has changed.
    ///
    /// # Errors
    /// Always [`SessionRequired::ResourceUpdated`].
    pub fn notify_updated(&self, _uri: &str) -> Result<(), SessionRequired> {
        Err(SessionRequired::ResourceUpdated)
    }

    /// Would tell clients that a list has changed.
    ///
    /// # Errors
    /// Always [`SessionRequired::ListChanged`].
    pub fn notify_list_changed(&self) -> Result<(), SessionRequired> {
        Err(SessionRequired::ListChanged)
    }

    /// Would be the id of the session.
    ///
    /// # Errors
    /// Always [`SessionRequired::SessionId`].
    pub fn session_id(&self) -> Result<String, SessionRequired> {
        Err(SessionRequired::SessionId)
    }

    /// Would serve over standard input and output.
    ///
    /// # Errors
    /// Always [`SessionRequired::Stdio`].
    pub fn start_stdio(&self) -> Result<(), SessionRequired> {
        Err(SessionRequired::Stdio)
    }

    /// Would serve over the transport of 2024-11-05, whatever framework holds its connections.
    ///
    /// # Errors
    /// Always [`SessionRequired::HttpSse`].
    pub fn start_sse(&self) -> Result<(), SessionRequired> {
        Err(SessionRequired::HttpSse)
    }
}
