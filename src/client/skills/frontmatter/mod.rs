//! The frontmatter of a `SKILL.md`: the part of YAML that the parsers of all hosts read alike.
//!
//! A client compares the frontmatter of a file with that of its entry, and YAML parsers differ. So this reader takes only the forms that all
//! of them read alike, and rejects every other form. `scripts/lib/frontmatter.mjs` does the same for the author of a skill, and
//! `tests/frontmatter.json` has cases for both. `lines` has the lines, `block` reads the structure that their indentation shows, `inline` reads
//! values on one line, `scalar` reads texts and numbers, and `literal` reads texts over several lines.

mod block;
mod inline;
mod lines;
mod literal;
mod scalar;

use serde_json::{Map, Value};

pub use lines::Mistake;

use block::Reader;
use lines::Lines;

/// Reads the frontmatter of a file.
///
/// # Errors
/// The first part that cannot be read.
pub fn read(file: &str) -> Result<Map<String, Value>, Mistake> {
    Reader::new(Lines::of(file)?).document()
}
