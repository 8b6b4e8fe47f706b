//! Streamable HTTP without I/O: from an HTTP request to a response.
//!
//! An `endpoint` is an engine with the settings of HTTP. `pipeline` has the path of a request: its checks are in the order in
//! which they run, and then the engine answers the message. `other_paths` serves the other paths.

#![allow(
    clippy::unnecessary_box_returns,
    reason = "results contain errors in a box, because errors are rare and large"
)]

mod auth_failure;
mod authenticate;
mod batch;
mod body;
mod check;
mod constant_header;
mod cors;
mod document;
pub(crate) mod endpoint;
mod era;
mod guard;
mod http_error;
#[cfg(feature = "client")]
pub(crate) mod in_process;
#[cfg(feature = "page")]
mod landing;
pub(crate) mod log_line;
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
mod task_object;
#[cfg(feature = "worker")]
pub(crate) mod warm_up;
mod well_known;

pub(crate) use endpoint::Endpoint;
pub use origin::AllowedOrigins;
pub use page::PageRequest;
pub use stream::{Body, EventStream};
