//! Durable tasks: calls of tools that outlive their requests (feature `tasks`).
//!
//! A [`Task`] makes the calls of a tool durable. A client with the tasks extension of the protocol gets a task. Every other client gets the
//! result, or else a job for the tools `job-result` and `job-cancel`.
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
//! A task lives in an object of the host, which has rows and an alarm. `start` creates it for a call, `receive` answers its messages, and
//! `attempt` runs its handler when the alarm rings.

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
mod run;
mod start;
mod stored;
mod task;

pub(crate) use object::Object;
pub use task::Task;
