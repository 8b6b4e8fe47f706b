//! Streamable HTTP without I/O: from an HTTP request to a response.
//!
//! | module | content |
//! |---|---|
//! | `endpoint` | the configuration of an endpoint |
//! | `choice` | a setting that the program or the environment makes |
//! | `limits` | its limits on sizes |
//! | `settings` | its configuration by environment variables |
//! | `pipeline` | the path of a request through all checks to its answer |
//! | `bounded_request` | the limit on the length of headers |
//! | `origin` | the web pages that may call |
//! | `cors` | the CORS headers for them |
//! | `guard` | method, media types, announced length |
//! | `authenticate` | tokens and scopes |
//! | `auth_failure` | the responses to failed authentication |
//! | `body` | the reading of a body |
//! | `in_process` | an endpoint in the same program, as a transport of the client |
//! | `in_flight` | the memory that all request bodies of an isolate hold |
//! | `era` | the kind and the revision of a message |
//! | `request_headers` | the standard headers, which must agree with the body |
//! | `http_error` | errors before a method runs, and the HTTP status of every error |
//! | `constant_header` | response headers whose values are constants |
//! | `json_answer` | answers that are one JSON document |
//! | `reply` | the reply to a request: a JSON document, or any response |
//! | `stream` | event streams (SSE) |
//! | `sse_task` | calls whose answer may become an event stream |
//! | `listen` | `subscriptions/listen` |
//! | `crash` | the answer that the host gives if the program crashes |
//! | `log_line`, `log_policy` | the log line of a request, and which requests have one |
//! | `elsewhere` | requests that are not for the MCP endpoint |
//! | `page` | pages of the program |
//! | `landing` | the landing page |
//! | `document` | documents that everybody may read |
//! | `well_known` | the metadata below `/.well-known/` |
//! | `server_json` | `/server.json` |
//! | `warm_up` | the call that the module answers when an isolate starts |

#![allow(
    clippy::unnecessary_box_returns,
    reason = "a result carries its error in a box, because an error is rare and large"
)]

mod auth_failure;
mod authenticate;
mod body;
mod bounded_request;
mod choice;
mod constant_header;
mod cors;
mod crash;
mod document;
mod elsewhere;
pub(crate) mod endpoint;
mod era;
mod guard;
mod http_error;
mod in_flight;
#[cfg(feature = "client")]
pub(crate) mod in_process;
mod json_answer;
mod landing;
pub(crate) mod limits;
mod listen;
mod log_line;
mod log_policy;
pub(crate) mod origin;
mod page;
mod pipeline;
pub(crate) mod reply;
mod request_headers;
mod server_json;
mod settings;
mod sse_task;
pub(crate) mod stream;
#[cfg(feature = "worker")]
pub(crate) mod warm_up;
mod well_known;

pub use endpoint::Endpoint;
pub use limits::Limits;
pub use log_policy::LogPolicy;
pub use origin::AllowedOrigins;
pub use page::PageRequest;
