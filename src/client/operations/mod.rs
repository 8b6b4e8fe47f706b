//! The operations of a program: `call`, `list`, `read` (also prompts and completion), and `request` for methods of extensions. `rounds` answers
//! the questions of a server, and `task` waits for its tasks.

pub(super) mod call;
mod cancel_task;
pub(super) mod definition;
pub(super) mod list_cache;
pub(super) mod listing;
pub(super) mod lists;
#[cfg(feature = "gateway")]
pub(super) mod passed_task;
pub(super) mod read;
pub(super) mod request;
mod respondent;
pub(super) mod result;
mod rounds;
mod skills;
mod step;
mod task;
pub(super) mod tool_call;
