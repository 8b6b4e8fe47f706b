//! The outcome of a tool call.

use crate::call::error::HandlerError;
use crate::call::result::ToolResult;
use crate::protocol::error::RpcError;

/// The outcome of a tool call.
pub(crate) enum Executed {
    /// The call has a result, which may be an error.
    Done(ToolResult),
    /// The durable task of the call ended with an error of the protocol.
    TaskFailed(RpcError),
    /// The handler waits for an answer of the client, or for a later attempt of its durable task.
    Waits,
    /// The handler asked the client for input, and that failed.
    CannotAsk(HandlerError),
}
