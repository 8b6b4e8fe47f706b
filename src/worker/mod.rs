//! Cloudflare Workers as a host: the traits of [`host`](crate::host) on it, and a request's way in and out.
//!
//! Nothing outside this module names the `worker` crate.
//!
//! No panic hook is set here, and `console_error_panic_hook` must not be added: the worker crate installs a hook of its
//! own when the module starts, which writes the panic to the log. What becomes of those who wait is for `entry`.

mod body;
mod current_call;
mod entry;
mod environment;
mod fetch;
mod head;
mod host;
mod promise;
mod response;
mod serve;
mod signature;

#[doc(hidden)]
pub use ::worker as runtime;

#[doc(inline)]
pub use crate::__worker_entry as entry;
#[doc(hidden)]
pub use entry::{begin, fetch};
pub use serve::serve;
