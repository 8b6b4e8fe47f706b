//! The official tests that are not expected to pass, with the reasons. An excluded test that passes fails the run. An entry for tests that
//! do not exist also fails it.

use std::fmt;

/// An excluded file, group or test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Excluded {
    file: &'static str,
    group: Option<&'static str>,
    test: Option<&'static str>,
    /// The one group of the file that is not excluded.
    except: Option<&'static str>,
    pub(crate) reason: &'static str,
}

/// Excludes a file.
pub(crate) const fn file(file: &'static str, reason: &'static str) -> Excluded {
    Excluded { file, group: None, test: None, except: None, reason }
}

/// Excludes all groups of a file except one.
pub(crate) const fn file_except(file: &'static str, group: &'static str, reason: &'static str) -> Excluded {
    Excluded { file, group: None, test: None, except: Some(group), reason }
}

/// Excludes a group.
pub(crate) const fn group(file: &'static str, group: &'static str, reason: &'static str) -> Excluded {
    Excluded { file, group: Some(group), test: None, except: None, reason }
}

/// Excludes a single test.
pub(crate) const fn test(
    file: &'static str,
    group: &'static str,
    test: &'static str,
    reason: &'static str,
) -> Excluded {
    Excluded { file, group: Some(group), test: Some(test), except: None, reason }
}

impl Excluded {
    /// Returns whether the entry excludes the whole group.
    pub(crate) fn has_group(&self, file: &str, group: &str) -> bool {
        let is_in_file = self.group.is_none_or(|name| name == group) && self.except != Some(group);
        self.file == file && self.test.is_none() && is_in_file
    }

    /// Returns whether the entry excludes this test.
    pub(crate) fn has_test(&self, file: &str, group: &str, test: &str) -> bool {
        self.file == file && self.group == Some(group) && self.test == Some(test)
    }
}

impl fmt::Display for Excluded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.file)?;
        for name in [self.group, self.test].into_iter().flatten() {
            write!(f, ": {name}")?;
        }
        Ok(())
    }
}

const OTHER_DOCUMENT: &str = "it refers to another document, which is not fetched";
const METASCHEMA: &str = "it refers to the metaschema, which is another document";
const DYNAMIC: &str = "`$dynamicRef` is rejected: its target depends on the path of evaluation";
const UNEVALUATED: &str =
    "`unevaluatedItems` and `unevaluatedProperties` are rejected: they depend on the results of all other keywords";
const OTHER_DIALECT: &str = "it uses another dialect, with a different vocabulary";
const OTHER_DIALECTS: &str = "it refers to documents of several dialects, which are not fetched";
const RECURSIVE: &str = "`$recursiveRef` is rejected: its target depends on the path of evaluation";
const CONTENT: &str = "`contentMediaType` and `contentEncoding` are annotations, as in later dialects";

const UNICODE_PROPERTIES: &str =
    "a pattern with Unicode properties is rejected: their tables are larger than the rest of the library";

pub(crate) const IN_ALL: &[Excluded] = &[
    group("ref.json", "remote ref, containing refs itself", METASCHEMA),
    file("refRemote.json", OTHER_DOCUMENT),
    file("optional/cross-draft.json", OTHER_DIALECTS),
    group("optional/ecmascript-regex.json", "patterns always use unicode semantics with pattern", UNICODE_PROPERTIES),
    group(
        "optional/ecmascript-regex.json",
        "patterns always use unicode semantics with patternProperties",
        UNICODE_PROPERTIES,
    ),
    group("optional/ecmascript-regex.json", "pattern with non-ASCII digits", UNICODE_PROPERTIES),
    group("optional/ecmascript-regex.json", "patternProperties with non-ASCII digits", UNICODE_PROPERTIES),
];

pub(crate) const SINCE_2019_09: &[Excluded] = &[
    file("defs.json", METASCHEMA),
    group("not.json", "collect annotations inside a 'not', even if collection is disabled", UNEVALUATED),
    group("ref.json", "ref creates new scope when adjacent to keywords", UNEVALUATED),
    file("unevaluatedItems.json", UNEVALUATED),
    file("unevaluatedProperties.json", UNEVALUATED),
    file("vocabulary.json", OTHER_DIALECT),
];

pub(crate) const IN_2020_12: &[Excluded] = &[
    file_except(
        "dynamicRef.json",
        "A $ref to a $dynamicAnchor in the same schema resource behaves like a normal $ref to an $anchor",
        DYNAMIC,
    ),
    file("optional/dynamicRef.json", DYNAMIC),
    file("optional/format-assertion.json", OTHER_DIALECT),
];

pub(crate) const IN_2019_09: &[Excluded] =
    &[file("recursiveRef.json", RECURSIVE), group("ref.json", "$ref with $recursiveAnchor", UNEVALUATED)];

pub(crate) const IN_DRAFT_07: &[Excluded] = &[
    file("definitions.json", METASCHEMA),
    test(
        "optional/content.json",
        "validation of string-encoded content based on media type",
        "an invalid JSON document",
        CONTENT,
    ),
    test(
        "optional/content.json",
        "validation of binary string-encoding",
        "an invalid base64 string (% is not a valid character)",
        CONTENT,
    ),
    test(
        "optional/content.json",
        "validation of binary-encoded media type documents",
        "a validly-encoded invalid JSON document",
        CONTENT,
    ),
    test(
        "optional/content.json",
        "validation of binary-encoded media type documents",
        "an invalid base64 string that is valid JSON",
        CONTENT,
    ),
];
