//! Skills of other servers: their entries, and the check of each file against its entry.
//!
//! `entry` reads entries, `paths` compares their URIs, and `verify` checks a file that a server sent. `frontmatter` reads the beginning of a
//! `SKILL.md`. The requests are in `operations/skills`.
//!
//! Source: ext-skills, specification; SEP-2640.

pub(in crate::client) mod entry;
pub mod frontmatter;
mod paths;
pub(in crate::client) mod verify;
