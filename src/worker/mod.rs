//! Cloudflare Workers as the host.
//!
//! Only this module uses the `worker` crate or a Cloudflare header.
//!
//! The worker crate installs a panic hook when the wasm module starts. This hook writes the panic to the log, so this module sets no
//! hook, and programs must not add `console_error_panic_hook`. `entry` answers the calls that wait.

mod bindings;
mod current_call;
mod entry;
mod environment;
mod host;
mod open;
mod promise;
mod request;
mod response;
mod serve;
#[cfg(feature = "client")]
mod service;
mod signature;
#[cfg(feature = "tasks")]
mod tasks;
mod tracing;

#[doc(hidden)]
pub use ::worker as runtime;

#[doc(inline)]
pub use crate::__worker_entry as entry;
#[cfg(feature = "tasks")]
#[doc(inline)]
pub use crate::__worker_tasks as tasks;
#[cfg(feature = "rag")]
pub use bindings::vectorize;
pub use bindings::{ai, data_points, database, kv};
#[doc(hidden)]
pub use entry::{begin, endpoint_of, fetch};
pub use host::{EventContext, context, of_event as host};
pub use serve::serve;
#[cfg(feature = "client")]
pub use service::Service;
#[cfg(feature = "tasks")]
#[doc(hidden)]
pub use tasks::{task_alarm, task_fetch};
pub use tracing::tracing;
