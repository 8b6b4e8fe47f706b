//! Streamable HTTP without I/O: from a request's head and body to a status, headers and a body.
//!
//! | module | what it decides |
//! |---|---|
//! | [`endpoint`] | an endpoint, as a program puts it together |
//! | `pipeline` | the way of a request: each check in its place |
//! | `guard` | method, media types, announced length |
//! | [`origin`] | which web pages may call |
//! | `cors` | what a browser is told of that |
//! | `authenticate` | who calls, and whether that is enough |
//! | `auth_failure` | what a caller is told who does not pass |
//! | `well_known` | what clients read before they have a token |
//! | `server_json` | what the MCP registry asks of a server |
//! | `document` | documents that anyone may read |
//! | `landing` | what people see of a server |
//! | `settings` | what the environment says about an endpoint |
//! | `era` | which revision a message is written in |
//! | `request_headers` | whether the headers say what the body says |
//! | [`header_value`] | values in headers that are not plain ASCII |
//! | `http_error` | what is refused before a method is reached, and the status of every error |
//! | `listen` | `subscriptions/listen` |
//! | `sse_task` | answers that may become streams |
//! | [`stream`] | streams of events |
//! | [`limits`] | sizes |
//! | `in_flight` | how much memory all bodies together may take |
//! | `log_line` | the one line per request |
//!
//! # The page
//!
//! Who opens `/` in a browser sees a page: what the server is, how to connect a client, what it offers, and forms to try it. The
//! page asks the endpoint as any client does, with a token that is typed in where one is needed.
//! [`Endpoint::without_page`] turns it off.

mod auth_failure;
mod authenticate;
mod bounded_head;
mod cors;
mod crash;
mod document;
pub mod endpoint;
mod era;
mod guard;
pub mod header_value;
mod http_error;
mod in_flight;
mod json_answer;
mod landing;
pub mod limits;
mod listen;
mod log_line;
pub mod origin;
mod pipeline;
mod request_headers;
mod server_json;
mod settings;
mod sse_task;
pub mod stream;
#[cfg(feature = "worker")]
pub(crate) mod warm_up;
mod well_known;

pub use endpoint::Endpoint;
pub use limits::Limits;
pub use origin::AllowedOrigins;
