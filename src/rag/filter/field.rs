//! The name of a field.

use std::fmt;

use crate::limits::{FIELD_NAME, FIELD_NAMES};
use crate::text::shortened;

/// The path of a field in metadata: one name, or the names of nested objects and a name in the innermost one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field(Vec<Box<str>>);

impl Field {
    /// Reads a path such as `author.name`.
    ///
    /// # Errors
    /// A sentence about the path.
    pub(super) fn parse(path: &str) -> Result<Self, String> {
        Self(Vec::new()).join(path)
    }

    /// Appends a path.
    ///
    /// # Errors
    /// A sentence about the path.
    pub(super) fn join(&self, path: &str) -> Result<Self, String> {
        let mut names = self.0.clone();
        for name in path.split('.') {
            if !is_name(name) {
                return Err(format!(
                    "{} is not the name of a field. {}",
                    quoted(path),
                    if path.starts_with('$') { "The name of a field cannot begin with `$`." } else { RULE }
                ));
            }
            if names.len() == FIELD_NAMES {
                return Err(format!("the field {} has more than {FIELD_NAMES} names in its path.", quoted(path)));
            }
            names.push(name.into());
        }
        Ok(Self(names))
    }

    /// Returns the names of the path, from the outermost.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// Returns the path in the syntax of SQLite. The names contain no quotes.
    pub(super) fn json_path(&self) -> String {
        self.names().fold(String::from("$"), |path, name| path + ".\"" + name + "\"")
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

const RULE: &str = "A name has 1 to 64 letters, digits, `_` and `-`, and begins with a letter or `_`.";

/// Returns whether metadata can have this name.
pub(super) fn is_name(name: &str) -> bool {
    let is_start = |first: char| first.is_ascii_alphabetic() || first == '_';
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.starts_with(is_start) && name.chars().all(is_part) && name.len() <= FIELD_NAME
}

/// Formats input of a caller for a message: shortened, without control characters, in backticks.
pub(in crate::rag) fn quoted(text: &str) -> String {
    format!("`{}`", shortened(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_grammar() {
        let longest = "x".repeat(64);
        for path in ["a", "_", "__proto__", "a-b", "A9_.b", "a.b.c.d", &longest] {
            assert_eq!(Field::parse(path).expect(path).to_string(), path);
        }
        let too_long = "x".repeat(65);
        for path in
            ["", "9a", "-a", "a b", "é", "a.", ".a", "a..b", "a\"b", "a'b", "a[0]", "a\0", "$a", "a.b.c.d.e", &too_long]
        {
            assert!(Field::parse(path).is_err(), "{path:?}");
        }
        let error = Field::parse("$x\n").expect_err("no name");
        assert_eq!(error, "`$x\\n` is not the name of a field. The name of a field cannot begin with `$`.");
    }

    #[test]
    fn the_path_for_sqlite_quotes_each_name() {
        assert_eq!(Field::parse("a.b-c").expect("a path").json_path(), "$.\"a\".\"b-c\"");
    }
}
