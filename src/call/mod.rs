//! One call of a handler: its context, arguments, errors and results.
//!
//! A `handler` is an async function. It gets its arguments and a `context`, and returns a `result` or an `error`. `clean` removes hidden
//! characters from results. The context gives it the shared `state`, the `request_info` (with the `client_extensions`), the `platform`
//! (requests to other servers, work after the answer), and `notifications`. `of_request` has the data that nested calls share.
//!
//! A handler can `ask` the client: `elicitation`, `sampling` and `roots` are three kinds of questions, `passed_question` passes on those of
//! other servers (and `passed_task` their tasks), and `client_need` has what a question needs of the client. An answer counts only for the same
//! `forwarded` values. A hook observes each `tool_event`.
//!
//! After a question, the call ends, and the handler runs again in the next round. `rounds` has the answers of the earlier rounds, and
//! `step_memory` has the results of each finished `step` (a `retry` is a step with several attempts). Both find them by `call_path`, the
//! position in the call. In a durable `task`, the `journal` has them instead. `deadline` and the `connection` to the client end a handler that
//! takes too long or whose client has disconnected. `trace` has the spans of a request.

mod ask;
pub(crate) mod call_path;
pub(crate) mod clean;
pub(crate) mod client_extensions;
pub(crate) mod client_need;
pub(crate) mod connection;
pub(crate) mod context;
pub(crate) mod deadline;
pub(crate) mod elicitation;
pub(crate) mod error;
pub(crate) mod failure;
pub(crate) mod forwarded;
pub(crate) mod handler;
pub(crate) mod input_error;
pub(crate) mod journal;
pub(crate) mod notifications;
pub(crate) mod of_request;
mod passed_question;
pub(crate) mod passed_task;
mod platform;
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
