//! The outcome of a tool call.

use serde_json::value::RawValue;

use crate::call::error::HandlerError;
use crate::call::result::ToolResult;
use crate::protocol::error::RpcError;

/// The outcome of a tool call.
pub(crate) enum Executed {
    /// The call has a result, which may be an error.
    Done(ToolResult),
    /// The call is a durable task, and the client gets this description of it: a JSON object.
    Task(Box<RawValue>),
    /// The durable task of the call ended with an error of the protocol.
    TaskFailed(RpcError),
    /// The handler waits for an answer of the client, or for a later attempt of its durable task.
    Waits,
    /// The handler asked the client for input, and that failed.
    CannotAsk(HandlerError),
}
