//! The items of a server: tools, resources, prompts and completions.
//!
//! | module | content |
//! |---|---|
//! | `builder` | the server and its builder |
//! | `definition` | the checks that run when a server is built |
//! | `build_error` | the error of a server that cannot be built |
//! | `about` | the description of a server |
//! | `access` | visibility and scopes of an item |
//! | `tool` | tools |
//! | `approval` | approval of calls by a person |
//! | `shown_arguments` | the arguments as the question for approval shows them |
//! | `checked_tools` | the tools that passed the last check |
//! | `kept_lists` | the cache of lists as JSON |
//! | `tool_handler` | the handlers of tools, with their types erased |
//! | `execute` | a call of a tool, from its arguments to its result |
//! | `hook` | hooks that observe the calls of a tool |
//! | `resource` | resources and resource templates |
//! | `variables` | the variables of a URI, read into a type |
//! | `list` | kinds of lists, and return types of functions that list or complete |
//! | `prompt` | prompts and their versions |
//! | `completion` | suggestions for arguments and variables |
//! | `cache` | cache hints |
//! | `source` | tools, resources and prompts that are not known when the server is built |

pub(crate) mod about;
pub(crate) mod access;
pub(crate) mod approval;
pub(crate) mod build_error;
pub(crate) mod builder;
pub(crate) mod cache;
mod checked_tools;
pub(crate) mod completion;
pub(crate) mod definition;
pub(crate) mod execute;
pub(crate) mod hook;
pub(crate) mod kept_lists;
pub(crate) mod list;
pub(crate) mod prompt;
pub(crate) mod resource;
mod shown_arguments;
pub(crate) mod source;
pub(crate) mod tool;
pub(crate) mod tool_handler;
mod variables;
