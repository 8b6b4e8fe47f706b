//! One call of a handler: its context, arguments, errors and results.
//!
//! | module | content |
//! |---|---|
//! | `state` | values that all requests of an endpoint share |
//! | `request_info` | the HTTP request that a server is built for |
//! | `connection` | the connection to the client |
//! | `context` | the context of a call |
//! | `error` | the error of a handler |
//! | `input_error` | the error of a question to the client |
//! | `handler` | async functions as handlers |
//! | `result` | results of tools |
//! | `ask` | questions to the client |
//! | `elicitation` | elicitation |
//! | `sampling` | sampling |
//! | `roots` | roots |
//! | `passed_question` | questions of other servers to the client (feature `client`) |
//! | `rounds` | questions, answers and steps of the rounds of a call |
//! | `step` | steps |
//! | `step_memory` | the results of finished steps, and the running steps |
//! | `call_path` | positions of steps and nested calls within a call |
//! | `platform` | requests to other servers, work after the answer, the capabilities of the client |
//! | `notifications` | progress and log messages |
//! | `deadline` | the deadline of a handler |
//! | `failure` | log lines about failures |
//! | `session_required` | errors for features that need a session |

mod ask;
pub(crate) mod call_path;
pub(crate) mod connection;
pub(crate) mod context;
pub(crate) mod deadline;
pub(crate) mod elicitation;
pub(crate) mod error;
pub(crate) mod failure;
pub(crate) mod handler;
pub(crate) mod input_error;
pub(crate) mod notifications;
mod passed_question;
mod platform;
pub(crate) mod request_info;
pub(crate) mod result;
pub(crate) mod roots;
pub(crate) mod rounds;
pub(crate) mod sampling;
pub(crate) mod session_required;
pub(crate) mod state;
pub(crate) mod step;
pub(crate) mod step_memory;
