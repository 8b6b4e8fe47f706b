//! Streamable HTTP without I/O: from an HTTP request to a response.
//!
//! | module | content |
//! |---|---|
//! | `endpoint` | the configuration of an endpoint |
//! | `choice` | a setting that the program or the environment can set |
//! | `limits` | the size limits of an endpoint |
//! | `settings` | the settings of an endpoint, read from environment variables |
//! | `pipeline` | the path of a request through all checks to its answer |
//! | `bounded_request` | the limit on the length of headers |
//! | `origin` | the check of the `Origin` header |
//! | `cors` | the CORS headers for allowed web pages |
//! | `guard` | the checks of method, media types and announced length |
//! | `authenticate` | tokens and scopes |
//! | `auth_failure` | the responses to requests that fail authentication or authorization |
//! | `body` | the reading of a body |
//! | `in_flight` | the memory for all request bodies of an isolate |
//! | `in_process` | an endpoint in the same program, as a transport of the client |
//! | `era` | the kind and the revision of a message |
//! | `request_headers` | the standard headers, which must agree with the body |
//! | `http_error` | errors before a method runs, and the HTTP status of every error |
//! | `constant_header` | response headers whose values are constants |
//! | `json_answer` | answers that are not streams |
//! | `reply` | the reply to a request: a JSON document, or any response |
//! | `stream` | event streams (SSE) |
//! | `sse_task` | calls whose answer may become an event stream |
//! | `listen` | `subscriptions/listen` |
//! | `crash` | the data from which the host answers a request if the program crashes |
//! | `log_line`, `log_policy` | the log line of a request, and which requests have one |
//! | `other_paths` | requests to paths other than that of the endpoint |
//! | `page` | pages of the program |
//! | `landing` | the landing page (feature `page`) |
//! | `document` | public documents |
//! | `well_known` | the metadata below `/.well-known/` |
//! | `server_json` | `/server.json` |
//! | `warm_up` | the call that the module answers when an isolate starts |

#![allow(
    clippy::unnecessary_box_returns,
    reason = "results contain errors in a box, because errors are rare and large"
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
mod log_policy;
pub(crate) mod origin;
mod other_paths;
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
