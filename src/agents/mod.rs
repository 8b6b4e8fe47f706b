//! Agents and workflows, which are served as tools.
//!
//! An `agent` is served as the tool `ask_<key>`, and a `workflow` as the tool `run_<key>`. The files of `chat_agent` implement an agent
//! that asks a model. All of them register tools and a handler, so the room `server` runs them as it runs every other tool.

pub(crate) mod agent;
pub(crate) mod chat_agent;
pub(crate) mod workflow;
