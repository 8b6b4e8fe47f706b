//! Agents and workflows, which are served as tools.
//!
//! | module | content |
//! |---|---|
//! | `agent` | agents: the tool `ask_<key>` |
//! | `chat_agent` | agents that ask a model |
//! | `workflow` | workflows: the tool `run_<key>` |

pub(crate) mod agent;
pub(crate) mod chat_agent;
pub(crate) mod workflow;
