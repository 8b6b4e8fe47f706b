//! The engine: a message and its caller in, an answer out.
//!
//! `begin` has the one way in: it builds the server of the caller, finds the `target` of the message, checks what must hold before a method
//! runs, and assembles the call. `methods` calls the function of the method. A call has two phases: in the first, its method reads the
//! parameters while the body is in memory, and in the second, the handler runs without the body. `tool_call` runs a tool, for clients and for
//! `nested` calls.
//!
//! The hosts of the engine are the rooms `http` and `tasks`. The table in [`protocol::method`](crate::protocol::method) lists the methods of
//! each revision.

pub(crate) mod begin;
mod call;
pub(crate) mod choice;
mod completion;
mod discover;
mod envelope;
mod extension_methods;
mod handler_error;
pub(crate) mod head;
pub(crate) mod header_params;
mod input_required;
mod lifecycle;
pub(crate) mod limits;
mod listen;
pub(crate) mod memory;
pub(crate) mod message;
mod methods;
pub(crate) mod nested;
mod pagination;
mod params;
mod prompt_methods;
mod prompt_versions;
pub(crate) mod refusal;
mod request_state;
mod resource_methods;
pub(crate) mod running;
mod skill_methods;
mod target;
mod tool_call;
mod tool_methods;

#[cfg(feature = "tasks")]
pub(crate) use extension_methods::enable_extension_methods;
