//! A client of other MCP servers (feature `client`).
//!
//! A handler connects with the context of its call. It then calls tools, reads resources and gets prompts of other servers:
//!
//! ```
//! use edge_mcp::client::McpClient;
//! use edge_mcp::{Context, HandlerError};
//! use serde_json::json;
//!
//! async fn temperature(client: McpClient, cx: Context) -> Result<String, HandlerError> {
//!     let weather = client.connect(&cx).server("weather")?;
//!     let answer = weather.call("get-weather", json!({ "location": "Paris" })).await?;
//!     Ok(answer.text())
//! }
//! ```
//!
//! A server is modern if it supports revision 2026-07-28. A legacy server supports only older revisions, which begin with `initialize` and
//! may have sessions. The client finds out which kind a server is.
//!
//! Page: `docs/client.md`.
//!
//! | module | content |
//! |---|---|
//! | `mcp_client` | the client and its builder |
//! | `configuration` | the servers that the environment variables name |
//! | `upstream` | another server: address, credential, trust |
//! | `connection` | the connections of a client to its servers, for one call of a handler |
//! | `request` | one JSON-RPC request, with negotiation and retries |
//! | `reactions` | the reaction to each answer, as a table |
//! | `negotiation` | the knowledge about a server, and the reactions that a request has caused |
//! | `handshake` | the requests that must come before another request |
//! | `post` | the HTTP requests for messages and for sessions |
//! | `message` | the text of a message |
//! | `headers` | the headers of requests and responses |
//! | `of_call` | the state that the links of a connection share |
//! | `credential` | the `Authorization` header of a request |
//! | `token_source` | the trait of the sources of tokens |
//! | `token_of_call` | tokens from a function of the program |
//! | `issued_token` | tokens from an authorization server, for one connection |
//! | `client_credentials` | requests for tokens of this program itself |
//! | `resumption` | the resumption of event streams |
//! | `ending` | the end of requests and sessions of legacy servers |
//! | `exchange` | one HTTP exchange |
//! | `response` | the response to a request |
//! | `observer` | progress, log messages, and requests of legacy servers |
//! | `question` | the questions of a server: elicitation, sampling, roots |
//! | `hidden` | characters that a person does not see |
//! | `handlers` | the functions of a program that answer them |
//! | `answer` | these answers in the form of the protocol |
//! | `passed` | the questions that the caller of this program answers |
//! | `rounds` | the rounds of a request, if the server asks questions |
//! | `sse` | the events of a stream |
//! | `event_stream` | an open event stream |
//! | `standing_stream` | the event stream of a session |
//! | `challenge` | the `WWW-Authenticate` header |
//! | `call` | a call of a tool |
//! | `tool_request` | the request of a call, with what the definition of the tool adds |
//! | `param_headers` | the headers that repeat arguments |
//! | `lists` | the requests for lists, with all their pages |
//! | `listing` | the items of a list |
//! | `list_cache` | the cache of lists |
//! | `definition` | the items of lists |
//! | `describe` | the request for the description of a server |
//! | `about` | the description of a server |
//! | `read` | reading resources, getting prompts, completing arguments |
//! | `result` | the results of tool calls |
//! | `source` | tools of other servers as tools of this server |
//! | `error` | the errors |

mod about;
mod answer;
mod call;
mod challenge;
mod channel;
mod client_credentials;
mod configuration;
mod connection;
mod credential;
mod definition;
mod describe;
mod ending;
mod error;
mod event_stream;
mod exchange;
mod handlers;
mod handshake;
mod headers;
mod initialized;
mod issued_token;
mod list;
mod list_cache;
mod listeners;
mod listing;
mod lists;
mod mcp_client;
mod message;
mod negotiation;
mod observer;
mod of_call;
mod outgoing;
mod param_headers;
pub(crate) mod passed;
mod post;
mod question;
mod reactions;
mod read;
mod request;
mod response;
mod result;
mod rounds;
mod send;
mod source;
pub(crate) mod sse;
mod standing_stream;
mod token_of_call;
mod token_source;
mod tool_request;
mod upstream;
mod visible_schema;

pub use about::About;
pub use call::Call;
pub use client_credentials::ClientCredentials;
pub use connection::{Connection, Peer};
pub use definition::Listed;
pub use error::{ClientError, Executed, Failure, NotMcp, Unreachable};
pub use listeners::{LogMessage, Progress};
pub use listing::{Listing, Toolset};
pub use mcp_client::{McpClient, McpClientBuilder};
pub use question::{Elicitation, SamplingRequest, UrlElicitation};
pub use read::{Complete, CompleteResult, GetPromptResult, ReadResult};
pub use result::CallResult;
pub use source::RemoteTools;
pub use upstream::Upstream;

pub use crate::host::transport::Transport;
