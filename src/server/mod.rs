//! The items of a server: tools, resources, prompts and completions.
//!
//! The `builder` collects the items of a server: each `tool`, `resource` and `prompt`, with its `access` (visibility and scopes), and the
//! functions of `completion` for its arguments. These are its `definitions`. `check` checks them when the server is built, and returns a
//! `build_error`. `checked_tools` avoids this work if the last server had the same tools. An `extension` has methods of its own. An `app` is
//! a user interface of tools. `skills` are folders of instructions for a model. A `source` adds items that are not known before a request.
//!
//! `execute` runs a call of a tool, whose outcome is `executed`: the arguments, the `approval` of a person (which shows them as in
//! `shown_arguments`), each `hook`, and the `tool_handler`, whose types are erased. `nested` has the calls that handlers and the program
//! make. `tool_task` is the way of a call to a durable task.
//!
//! `variables` reads the variables of a URI into the type of a handler, and `list` has the return types of functions that list or complete.
//! `cache` has the cache hints of answers, `cached_lists` has lists as JSON, and `cursor` has the positions of pages. `about` describes the
//! server for other programs, and `problems` checks it before it is published.

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
pub(crate) mod execute;
pub(crate) mod executed;
pub(crate) mod extension;
pub(crate) mod hook;
pub(crate) mod list;
pub(crate) mod nested;
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
