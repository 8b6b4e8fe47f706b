//! Cloudflare Workers as the host.
//!
//! Only this module names the `worker` crate or a Cloudflare header.
//!
//! | module | content |
//! |---|---|
//! | `entry` | the exported functions: the start of the module and the fetch handler |
//! | `serve` | the answer to one request, for programs with a fetch handler of their own |
//! | `request`, `response` | the conversion of requests and responses |
//! | `environment` | variables, secrets and the rate limit |
//! | `host` | the isolate as a [`Host`](crate::host::Host) |
//! | `fetch`, `signature` | its requests to other servers and its checks of signatures |
//! | `promise` | futures as promises, if they have to wait |
//! | `current_call` | the call that the module works on |
//!
//! No panic hook is set here, and `console_error_panic_hook` must not be added: the worker crate installs its own hook when the module
//! starts, which writes the panic to the log. `entry` answers the calls that wait.

mod current_call;
mod entry;
mod environment;
mod fetch;
mod host;
mod promise;
mod request;
mod response;
mod serve;
mod signature;

#[doc(hidden)]
pub use ::worker as runtime;

#[doc(inline)]
pub use crate::__worker_entry as entry;
#[doc(hidden)]
pub use entry::{begin, fetch};
pub use host::{EventContext, of_event as host};
pub use serve::serve;
