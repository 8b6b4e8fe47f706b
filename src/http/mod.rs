//! Streamable HTTP without I/O: from an HTTP request to a response.
//!
//! `endpoint` is the configuration. `settings` reads it from environment variables, and a `choice` remembers whether the program or the
//! environment set a value. `check` checks an endpoint before it is published.
//!
//! `pipeline` has the path of a request. Its checks are in the order in which they run: `bounded_request` (length of headers), `origin`,
//! `guard` (method, media types, announced length), `authenticate`, `in_flight` and `body`, `era`, and `request_headers`. A check fails
//! with an `http_error` or, if the caller is not accepted, an `auth_failure`. Then the room `rpc` answers the message. `json_answer` sends
//! the answer as one document. `sse_task` runs a call whose answer may become a `stream`, and `listen` serves `subscriptions/listen`.
//! `task_attempt` runs the handler of a durable task. `cors` and `constant_header` add headers to every answer. `log_line` collects what the log says about the request, and `crash` has the
//! answer for the case that the program crashes.
//!
//! `other_paths` serves the other paths of the endpoint: a `page` of the program, the `landing` page, and the `document`s in `well_known`
//! and `server_json`. `warm_up` is the call that runs when an isolate starts. `in_process` is the way to an endpoint of the same program.

#![allow(
    clippy::unnecessary_box_returns,
    reason = "results contain errors in a box, because errors are rare and large"
)]

mod auth_failure;
mod authenticate;
mod body;
mod bounded_request;
mod check;
mod choice;
mod constant_header;
mod cors;
mod crash;
mod document;
pub(crate) mod endpoint;
mod era;
mod guard;
mod http_error;
mod in_flight;
#[cfg(feature = "client")]
pub(crate) mod in_process;
mod json_answer;
#[cfg(feature = "page")]
mod landing;
pub(crate) mod limits;
mod listen;
mod log_line;
pub(crate) mod log_policy;
pub(crate) mod origin;
mod other_methods;
mod other_paths;
mod page;
mod pipeline;
mod proxies;
pub(crate) mod reply;
mod request_headers;
mod server_json;
mod settings;
mod sse_task;
pub(crate) mod stream;
#[cfg(feature = "tasks")]
mod task_attempt;
#[cfg(feature = "worker")]
pub(crate) mod warm_up;
mod well_known;

pub(crate) use endpoint::Endpoint;
pub use origin::AllowedOrigins;
pub use page::PageRequest;
pub use stream::{Body, EventStream};
