//! Skills of other servers: their entries, and the check of each file against its entry.
//!
//! Source: ext-skills, specification; SEP-2640.

pub mod frontmatter;
