//! The operations of a program: `call`, `list`, `read` (also prompts and completion), `describe`, and `request` for methods of extensions.
//!
//! `skills` lists skills and reads their files. `rounds` sends a request again with the answers to its questions. `lists` reads lists with all
//! their `pages`, and caches them.

pub(super) mod call;
pub(super) mod definition;
pub(super) mod describe;
pub(super) mod list;
pub(super) mod list_cache;
pub(super) mod listing;
pub(super) mod lists;
mod pages;
pub(super) mod param_headers;
pub(super) mod read;
pub(super) mod request;
pub(super) mod result;
pub(super) mod rounds;
mod skills;
pub(super) mod tool_request;
