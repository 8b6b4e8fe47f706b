//! Agents and workflows, which are served as tools.
//!
//! An [`Agent`] is served as the tool `ask_<key>`, and a [`Workflow`] as the tool `run_<key>`. A [`ChatAgent`] is an agent that asks a
//! model. All of them are tools with a handler, so a server runs them as it runs every other tool.
//!
//! Pages: `docs/agents.md`, `docs/workflows.md`.

mod agent;
mod chat_agent;
mod workflow;

pub use agent::{Agent, AgentCall, AgentReply, Usage};
pub use chat_agent::{ChatAgent, ChatModel};
pub use workflow::Workflow;
