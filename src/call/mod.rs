//! One call of a handler: questions to the client and their errors, steps, events for hooks, and what the client supports.
//!
//! After a question, the call ends, and the handler runs again in the next round. It finds the results of earlier rounds by its position in
//! the call.

mod ask;
pub(crate) mod call_path;
pub(crate) mod clean;
pub(crate) mod client_extensions;
pub(crate) mod connection;
pub(crate) mod context;
pub(crate) mod deadline;
pub(crate) mod elicitation;
pub(crate) mod error;
pub(crate) mod exchange;
pub(crate) mod failure;
pub(crate) mod forwarded;
pub(crate) mod handler;
pub(crate) mod input_error;
pub(crate) mod journal;
pub(crate) mod notifications;
pub(crate) mod passed_task;
mod platform;
pub(crate) mod question_kind;
pub(crate) mod request_info;
pub(crate) mod result;
mod retry;
pub(crate) mod roots;
pub(crate) mod rounds;
pub(crate) mod sampling;
pub(crate) mod session_required;
pub(crate) mod state;
pub(crate) mod step;
pub(crate) mod step_memory;
pub(crate) mod task;
pub(crate) mod task_info;
pub(crate) mod tool_event;
pub(crate) mod trace;

pub use client_extensions::ClientSupport;
pub use input_error::InputError;
pub use roots::Root;
pub use sampling::{ModelAnswer, Sampling};
pub use state::MissingState;
pub use step::Step;
pub use task_info::TaskInfo;
pub use tool_event::{FinishedCall, ToolEvent};
