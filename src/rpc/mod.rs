//! One JSON-RPC request in, one response out: a function for each method.
//!
//! `resolve` finds the method of a request and its target, once. `dispatch` calls the function of the method: `lifecycle` and `discover`,
//! `tool_methods`, `resource_methods`, `skill_methods`, `extension_methods`, `prompt_methods` (with `prompt_versions`), or `completion`. A request is answered in two phases. In
//! the first phase, a method reads its `params` while the body is in memory, and becomes a `prepared` request. The second phase runs the
//! handler, without the body. `call` has the data that both phases share. `envelope` adds the common members to a result, and `pagination`
//! divides lists. `handler_error` converts the error of a handler. If a handler asks the client, `input_required` is the result, and the
//! client sends the encrypted `request_state` back in the next round.
//!
//! The table in [`protocol::method`](crate::protocol::method) lists the methods of each revision.

mod call;
mod completion;
mod discover;
mod dispatch;
mod envelope;
mod extension_methods;
mod handler_error;
mod input_required;
mod lifecycle;
mod pagination;
mod params;
mod prepared;
mod prompt_methods;
mod prompt_versions;
mod request_state;
mod resolve;
mod resource_methods;
mod skill_methods;
mod tool_methods;

pub(crate) use call::Call;
pub(crate) use dispatch::prepare;
pub(crate) use extension_methods::enable_extension_methods;
pub(crate) use prepared::Prepared;
pub(crate) use resolve::Resolved;
