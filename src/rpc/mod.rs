//! One JSON-RPC request in, one response out: a function for each method.
//!
//! | module | content |
//! |---|---|
//! | `resolve` | the lookup of the method and its target, once for each request |
//! | `dispatch` | the dispatch of a request to the function of its method |
//! | `call` | the data that all methods need |
//! | `prepared` | requests with parsed parameters |
//! | `lifecycle` | `initialize`, `ping`, `logging/setLevel` |
//! | `discover` | `server/discover` |
//! | `tool_methods` | `tools/list`, `tools/call` |
//! | `resource_methods` | `resources/list`, `resources/templates/list`, `resources/read` |
//! | `prompt_versions` | the lookup of a prompt by name and version |
//! | `prompt_methods` | `prompts/list`, `prompts/get` |
//! | `completion` | `completion/complete` |
//! | `params` | the reading of parameters |
//! | `pagination` | pagination of lists |
//! | `envelope` | the common members of results |
//! | `handler_error` | the conversion of handler errors to JSON-RPC errors |
//! | `input_required` | input requests and their answers |
//! | `request_state` | the encrypted state that a client sends back in the next round of a call |
//!
//! The table in [`protocol::method`](crate::protocol::method) lists the methods of each revision. A request is answered in two phases. The
//! first phase reads the parameters while the body is in memory. The second phase runs the handler, without the body.

mod call;
mod completion;
mod discover;
mod dispatch;
mod envelope;
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
mod tool_methods;

pub(crate) use call::Call;
pub(crate) use dispatch::prepare;
pub(crate) use prepared::Prepared;
pub(crate) use resolve::Resolved;
