//! Durable tasks: calls of tools that outlive their requests (feature `tasks`).
//!
//! A [`Task`] makes the calls of a tool durable. A client with the tasks extension of the protocol gets a task. Every other client gets the
//! result, or else a handle for the tools `job-result` and `job-cancel`.
//!
//! ```
//! use std::time::Duration;
//!
//! use edge_mcp::tasks::Task;
//! use edge_mcp::{Context, HandlerError, Tool};
//!
//! async fn report(cx: Context) -> Result<String, HandlerError> {
//!     let rows: u32 = cx.step("load", &(), async || Ok(1000)).await?;
//!     cx.progress(1.0, Some(2.0), "loaded");
//!     cx.sleep(Duration::from_secs(3600)).await;
//!     Ok(format!("{rows} rows"))
//! }
//!
//! let report = Tool::new("build-report", "Builds the yearly report.", report).task(Task::new());
//! ```
//!
//! Page: `docs/tasks.md`.
//!
//! A task lives in an object of the host, which has rows and an alarm. `start` creates it for a call. `methods` are those of the extension,
//! and `job_tools` the tools for other clients; both send a `message` to the object, whose name is part of the task's `id`. `follow` waits
//! for the end of a task, and passes its questions on to the client. `listen` sends the changes of tasks to a client that subscribes. The
//! `object` `receive`s messages, and `create`s its task. When its alarm rings, `attempt` runs the handler, whose steps the `journal` stores, and decides what
//! comes `next`.
//! The `record` has the state of the task, and `rows` stores everything, encrypted. `answers` checks the answers to questions, and `quota`
//! counts the tasks of a caller. `live` connects an attempt with the messages that arrive meanwhile. The tasks of mounted servers are
//! `passed` on: callers ask for them with the same methods.

mod answers;
mod attempt;
mod create;
mod follow;
mod id;
mod job_tools;
mod journal;
mod listen;
mod live;
mod message;
mod methods;
mod next;
mod object;
#[cfg(feature = "gateway")]
mod passed;
mod quota;
mod receive;
mod record;
mod rows;
mod start;
mod task;

pub(crate) use attempt::{Attempt, Attempted};
pub(crate) use object::Object;
pub(crate) use record::{End, StoredCall};
pub use task::Task;
