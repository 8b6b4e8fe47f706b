//! Cloudflare Workers as the host.
//!
//! Only this module uses the `worker` crate or a Cloudflare header.
//!
//! | module | content |
//! |---|---|
//! | `entry` | the exported functions: the start of the module and the fetch handler |
//! | `serve` | the answer to one request, for programs with their own fetch handler |
//! | `request`, `response` | the conversion of requests and responses |
//! | `environment` | variables, secrets and the rate limit |
//! | `host` | the isolate as a [`Host`](crate::host::Host) |
//! | `open`, `signature` | the requests to other servers and the checks of signatures |
//! | `service` | the service bindings as servers of the MCP client |
//! | `rag` | the bindings for retrieval |
//! | `promise` | the conversion of futures to values or promises |
//! | `current_call` | the call whose code runs in the module |
//!
//! The worker crate installs a panic hook when the WebAssembly module starts. This hook writes the panic to the log, so this module sets no
//! hook, and programs must not add `console_error_panic_hook`. `entry` answers the calls that wait.

mod current_call;
mod entry;
mod environment;
mod host;
mod open;
mod promise;
#[cfg(feature = "rag")]
mod rag;
mod request;
mod response;
mod serve;
#[cfg(feature = "client")]
mod service;
mod signature;

#[doc(hidden)]
pub use ::worker as runtime;

#[doc(inline)]
pub use crate::__worker_entry as entry;
#[doc(hidden)]
pub use entry::{begin, fetch};
pub use host::{EventContext, of_event as host};
#[cfg(feature = "rag")]
pub use rag::d1::D1Passages;
pub use serve::serve;
#[cfg(feature = "client")]
pub use service::Service;
