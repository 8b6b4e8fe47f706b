//! What a server is: its tools, resources and prompts, and the functions behind them.
//!
//! | module | what it holds |
//! |---|---|
//! | [`builder`] | a server, and what is refused when it is built |
//! | [`about`] | what a server says of itself |
//! | [`distribution`] | where a server can be had |
//! | [`command`] | what a program is told before it starts |
//! | [`server_json`] | the same for the MCP registry |
//! | [`tool`] | tools |
//! | [`handler`] | plain async functions as handlers |
//! | [`tool_result`] | what a tool's function may return |
//! | [`resource`] | resources and resource templates |
//! | [`prompt`] | prompts and their versions |
//! | [`completion`] | suggestions for arguments and variables |
//! | [`cache`] | for how long clients may keep what they are told |
//! | [`agent`] | agents, as tools |
//! | [`chat_agent`] | agents that ask a model |
//! | [`workflow`] | steps that follow one another, as tools |
//! | [`hook`] | looking on while a tool is called |
//! | [`ask`] | asking the client, within a call |
//! | [`session_required`] | refusals of what needs a session |
//! | [`context`] | what a handler can learn of the request |

pub mod about;
pub(crate) mod access;
pub mod agent;
pub mod ask;
pub mod builder;
pub mod cache;
mod call_path;
pub mod chat_agent;
pub mod command;
pub mod completion;
pub mod context;
mod definition;
pub mod distribution;
pub(crate) mod exchange;
pub(crate) mod execute;
pub(crate) mod fault;
pub mod handler;
pub mod hook;
pub(crate) mod outbox;
pub mod prompt;
pub mod resource;
pub(crate) mod run;
pub mod server_json;
pub mod session_required;
pub(crate) mod steps;
pub mod tool;
pub mod tool_result;
mod variables;
pub mod workflow;

pub use about::{ServerDetail, ServerInfo, ToolInfo, ToolList, ToolType, VersionDetail};
pub use agent::{Agent, AgentCall, AgentReply, Usage};
pub use ask::{Elicited, InputError, Root, Sampled, Sampling};
pub use builder::{McpServer, McpServerBuilder};
pub use cache::{CacheHint, Cacheable};
pub use chat_agent::{ChatAgent, ChatModel};
pub use command::{Argument, Command, Input};
pub use completion::{Completion, CompletionRequest};
pub use context::{Context, RequestInfo};
pub use definition::BuildError;
pub use distribution::{Package, Remote, Repository};
pub use hook::ToolEvent;
pub use prompt::{Prompt, PromptError, PromptResult};
pub use resource::{ReadError, Resource, ResourceTemplate};
pub use server_json::ServerJson;
pub use session_required::SessionRequired;
pub use tool::Tool;
pub use tool_result::{Json, ToolError, ToolResult};
pub use workflow::{StepValue, Workflow};
