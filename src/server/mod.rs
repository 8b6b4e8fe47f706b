//! The items of a server: tools, resources, prompts and completions.
//!
//! The `builder` collects the items of a server. They are its `definitions`, which `check` checks when the server is built. A `source` adds
//! items that are not known before a request. `problems` checks a server before it is published.

pub(crate) mod about;
pub(crate) mod access;
pub(crate) mod app;
pub(crate) mod approval;
pub(crate) mod build_error;
pub(crate) mod builder;
pub(crate) mod cache;
pub(crate) mod cached_lists;
pub(crate) mod check;
mod checked_tools;
pub(crate) mod completion;
pub(crate) mod cursor;
pub(crate) mod definitions;
pub(crate) mod extension;
pub(crate) mod hook;
pub(crate) mod list;
pub(crate) mod problems;
pub(crate) mod prompt;
pub(crate) mod resource;
mod shown_arguments;
pub(crate) mod skills;
pub(crate) mod source;
pub(crate) mod tool;
pub(crate) mod tool_handler;
pub(crate) mod tool_task;
mod variables;
