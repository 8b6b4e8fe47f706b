//! The events of a tool call, which hooks observe.

use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;

use super::result::ToolResult;
use crate::text::Text;

/// An event of a tool call. The events occur in this order.
///
/// If the arguments do not fit the schema, [`Error`](Self::Error) follows [`InputDelta`](Self::InputDelta). A call that
/// asks the client for input ends without an output event. Its next round begins again with the first event.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ToolEvent {
    /// The tool was called.
    InputStart,
    /// The arguments, as they were sent. There is one such event with all arguments.
    InputDelta(Text),
    /// A person was asked to approve the call, and answered. If the answer was no, [`Error`](Self::Error) follows.
    Approval {
        /// Whether a person approved the call.
        is_approved: bool,
    },
    /// The arguments fit the input schema. The handler runs next.
    InputAvailable(Rc<Value>),
    /// The handler returned a result.
    Output(Rc<ToolResult>),
    /// The call failed. This is the error text for the caller.
    Error(Text),
    /// The call has ended. This event follows [`Output`](Self::Output) or [`Error`](Self::Error), and has the data of the whole call.
    Finished(Rc<FinishedCall>),
}

/// The parts of a call that its hooks need at its end.
pub(crate) struct HookData {
    /// The time at which this part of the call began, in milliseconds since 1970.
    pub began_ms: u64,
    /// The arguments, if they fit the input schema.
    pub arguments: Option<Rc<Value>>,
}

/// A tool call that has ended: see [`ToolEvent::Finished`].
///
/// ```
/// use edge_mcp::call::ToolEvent;
/// use edge_mcp::Tool;
/// use serde_json::json;
///
/// let greet = Tool::new("greet", "Says hello.", || async { "Hello" }).hook(|event, _| async move {
///     if let ToolEvent::Finished(call) = event {
///         let (error, ms) = (call.outcome.as_ref().err(), call.time.as_millis() as u64);
///         println!("{}", json!({ "tool": call.tool, "arguments": call.arguments, "error": error, "ms": ms }));
///     }
///     Ok(())
/// });
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FinishedCall {
    /// The name of the tool.
    pub tool: Text,
    /// The arguments. `null` if they do not fit the input schema.
    pub arguments: Value,
    /// The result of the handler, or the error text for the caller.
    pub outcome: Result<Rc<ToolResult>, Text>,
    /// The time since the call, or its last round, began. For a durable task, the time since the task was created.
    pub time: Duration,
}
