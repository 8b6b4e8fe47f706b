//! What of the official tests is not expected to pass, and why. An entry that passes fails the run, and so does one that
//! names nothing.

use std::fmt;

/// A file, a group of it, or a test of that.
#[derive(Debug)]
pub(crate) struct LeftOut {
    file: &'static str,
    group: Option<&'static str>,
    test: Option<&'static str>,
    /// The one group of the file that is not left out.
    but: Option<&'static str>,
    pub(crate) reason: &'static str,
}

pub(crate) const fn file(file: &'static str, reason: &'static str) -> LeftOut {
    LeftOut { file, group: None, test: None, but: None, reason }
}

/// All of a file but one group.
pub(crate) const fn file_but(file: &'static str, group: &'static str, reason: &'static str) -> LeftOut {
    LeftOut { file, group: None, test: None, but: Some(group), reason }
}

pub(crate) const fn group(file: &'static str, group: &'static str, reason: &'static str) -> LeftOut {
    LeftOut { file, group: Some(group), test: None, but: None, reason }
}

/// A single test.
pub(crate) const fn test(file: &'static str, group: &'static str, test: &'static str, reason: &'static str) -> LeftOut {
    LeftOut { file, group: Some(group), test: Some(test), but: None, reason }
}

impl LeftOut {
    /// Whether the whole group is left out.
    pub(crate) fn names_group(&self, file: &str, group: &str) -> bool {
        let is_meant = self.group.is_none_or(|name| name == group) && self.but != Some(group);
        self.file == file && self.test.is_none() && is_meant
    }

    /// Whether that one test is.
    pub(crate) fn names_test(&self, file: &str, group: &str, test: &str) -> bool {
        self.file == file && self.group == Some(group) && self.test == Some(test)
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.file)?;
        for name in [self.group, self.test].into_iter().flatten() {
            write!(f, ": {name}")?;
        }
        Ok(())
    }
}

const OTHER_DOCUMENT: &str = "it refers to another document, and none is fetched";
const METASCHEMA: &str = "it refers to the metaschema, which is another document";
const DYNAMIC: &str = "`$dynamicRef` is refused: what it means depends on how one came there";
const UNEVALUATED: &str =
    "`unevaluatedItems` and `unevaluatedProperties` are refused: they depend on what all others have seen";
const OTHER_DIALECT: &str = "its dialect is another one, with a vocabulary of its own";
const OLDER_DIALECT: &str = "it is about a dialect before 2020-12";

const NO_PROPERTIES: &str =
    "the pattern uses properties of Unicode, whose tables are larger than all the rest; it is refused";

pub(crate) const LEFT_OUT: &[LeftOut] = &[
    file("defs.json", METASCHEMA),
    file_but(
        "dynamicRef.json",
        "A $ref to a $dynamicAnchor in the same schema resource behaves like a normal $ref to an $anchor",
        DYNAMIC,
    ),
    group("not.json", "collect annotations inside a 'not', even if collection is disabled", UNEVALUATED),
    group("ref.json", "remote ref, containing refs itself", METASCHEMA),
    group("ref.json", "ref creates new scope when adjacent to keywords", UNEVALUATED),
    file("refRemote.json", OTHER_DOCUMENT),
    file("unevaluatedItems.json", UNEVALUATED),
    file("unevaluatedProperties.json", UNEVALUATED),
    file("vocabulary.json", OTHER_DIALECT),
    file("optional/cross-draft.json", OLDER_DIALECT),
    file("optional/dependencies-compatibility.json", OLDER_DIALECT),
    file("optional/dynamicRef.json", DYNAMIC),
    group("optional/ecmascript-regex.json", "patterns always use unicode semantics with pattern", NO_PROPERTIES),
    group(
        "optional/ecmascript-regex.json",
        "patterns always use unicode semantics with patternProperties",
        NO_PROPERTIES,
    ),
    group("optional/ecmascript-regex.json", "pattern with non-ASCII digits", NO_PROPERTIES),
    group("optional/ecmascript-regex.json", "patternProperties with non-ASCII digits", NO_PROPERTIES),
    file("optional/format-assertion.json", OTHER_DIALECT),
];
