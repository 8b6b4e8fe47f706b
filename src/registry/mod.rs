//! The description of a server as data: packages, remotes, `server.json`.
//!
//! | module | content |
//! |---|---|
//! | `about` | identity, version, repository |
//! | `package` | packages and remotes |
//! | `command` | the command line, environment variables and headers of a package or remote |
//! | `server_json` | `server.json`, the format of the MCP registry |

pub(crate) mod about;
mod command;
pub(crate) mod package;
pub(crate) mod server_json;

pub use about::{ServerDetail, ServerInfo, VersionDetail};
pub use command::{Argument, Command, Input};
pub use package::{Package, Remote, Repository};
pub use server_json::ServerJson;
