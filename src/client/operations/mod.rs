//! The operations of a program: `call`, `list`, `read` (also prompts and completion), `describe`, and `request` for methods of extensions.
//!
//! `skills` lists skills and reads their files. `rounds` sends a request again with the answers to its questions, which `asked` reads, and `step`
//! remembers what was sent. `task` waits for a task, with the pauses of `waiting`, and `cancel_task` cancels it. `running_task` continues one, and `passed_task` are the requests
//! about one that the caller follows. `lists` reads lists with all
//! their `pages`, and caches them. A `definition` is read once, with a `strict_schema`.

mod asked;
pub(super) mod call;
mod cancel_task;
pub(super) mod definition;
pub(super) mod describe;
pub(super) mod list;
pub(super) mod list_cache;
pub(super) mod listing;
pub(super) mod lists;
mod pages;
pub(super) mod param_headers;
#[cfg(feature = "gateway")]
pub(super) mod passed_task;
pub(super) mod read;
pub(super) mod request;
pub(super) mod result;
pub(super) mod rounds;
pub(super) mod running_task;
mod skills;
mod step;
mod strict_schema;
mod task;
pub(super) mod tool_request;
mod waiting;
