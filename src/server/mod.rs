//! What a server is: its tools and resources, and the functions behind them.
//!
//! | module | what it holds |
//! |---|---|
//! | [`builder`] | a server, and what is refused when it is built |
//! | [`tool`] | tools |
//! | [`handler`] | plain async functions as the handlers of tools |
//! | [`tool_result`] | what a tool's function may return |
//! | [`resource`] | resources and resource templates |
//! | [`uri_template`] | which URIs a template stands for |
//! | [`context`] | what a handler can learn of the request |

pub mod builder;
pub mod context;
pub mod handler;
pub mod resource;
pub mod tool;
pub mod tool_result;
pub mod uri_template;

pub use builder::{BuildError, McpServer, McpServerBuilder};
pub use context::{Context, RequestInfo};
pub use resource::{ReadError, Resource, ResourceTemplate};
pub use tool::Tool;
pub use tool_result::{Json, ToolError, ToolResult};
