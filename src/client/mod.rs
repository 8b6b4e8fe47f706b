//! A client of other MCP servers (feature `client`).
//!
//! A handler connects with the context of its call, and calls tools, reads resources and gets prompts of other servers:
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
//! | module | content |
//! |---|---|
//! | `mcp_client` | the client and its builder |
//! | `configuration` | the servers that the environment variables name |
//! | `upstream` | another server: address, credential, trust |
//! | `connection` | the use of a client within one call |
//! | `request` | one JSON-RPC request, with negotiation and retries |
//! | `negotiation` | the reaction to each answer, as a table |
//! | `message` | the text of a message |
//! | `headers` | the headers of a request |
//! | `credential` | the `Authorization` header of a request |
//! | `machine` | tokens for this program itself |
//! | `exchange` | one HTTP exchange |
//! | `sse` | event streams |
//! | `challenge` | the `WWW-Authenticate` header |
//! | `transport` | the ways to reach a server |
//! | `call` | a call of a tool |
//! | `listing` | lists, from their first page to their last |
//! | `definition` | the items of lists |
//! | `read` | reading resources, getting prompts, completing arguments |
//! | `result` | the results |
//! | `source` | tools of other servers as tools of this server |
//! | `error` | the errors |

mod call;
mod challenge;
mod configuration;
mod connection;
mod credential;
mod definition;
mod error;
mod exchange;
mod headers;
mod listing;
mod machine;
mod mcp_client;
mod message;
mod negotiation;
mod read;
mod request;
mod result;
mod source;
mod sse;
mod transport;
mod upstream;

pub use call::Call;
pub use connection::{Connection, Peer};
pub use definition::Listed;
pub use error::{ClientError, Executed, Failure, NotMcp, Unreachable};
pub use listing::Listing;
pub use machine::MachineClient;
pub use mcp_client::{McpClient, McpClientBuilder};
pub use result::CallResult;
pub use source::RemoteTools;
pub use transport::Transport;
pub use upstream::Upstream;
