//! The items of a server: tools, resources, prompts, completions, apps, skills and sources; their builder, and its checks.

pub(crate) mod about;
pub(crate) mod access;
pub(crate) mod app;
pub(crate) mod approval;
pub(crate) mod build_error;
pub(crate) mod builder;
pub(crate) mod cache;
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
