//! The events of a tool call, which hooks observe.

use std::rc::Rc;

use serde_json::Value;

use super::result::ToolResult;

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
    InputDelta(Rc<str>),
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
    Error(Rc<str>),
}
