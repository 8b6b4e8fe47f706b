//! The names of types. A reader who finds a name should know which type it is.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{code, is_word};
use crate::{Sources, sources, sources_of};

/// The names that several types of this crate have, with the reason. At most 20, and none of them is public twice.
const NAMES_USED_TWICE: &[(&str, &str)] = &[
    ("Request", "the word of HTTP for the request of the platform, and the word of JSON-RPC for a message"),
    ("Answer", "an answer of the engine, and how a test reads it"),
    ("CompleteResult", "a name of the specification: the server writes it, and the client reads it"),
    ("GetPromptResult", "a name of the specification: the server writes it, and the client reads it"),
];

/// The types that carry a call from the request to the handler and back to the response, with the beginning of the path of their file. At
/// most eight: each further one is a copy of the members of another.
const CARRIERS: &[(&str, &str)] = &[
    ("BoundedRequest", "engine/"),
    ("Message", "engine/"),
    ("Caller", "engine/"),
    ("MethodCall", "engine/"),
    ("Context", "call/"),
    ("Running", "engine/"),
    ("Answer", "engine/"),
    ("Reply", "http/"),
];

/// A type at the top level of a file.
struct Type<'a> {
    name: &'a str,
    /// lib.rs exports it. The lint `unreachable_pub` ensures that no other type is only `pub`.
    is_public: bool,
}

/// Returns the types that the code of a file defines.
fn types(code: &str) -> impl Iterator<Item = Type<'_>> {
    code.lines().filter_map(|line| {
        let (visibility, item) = match line.strip_prefix("pub") {
            Some(rest) if rest.starts_with('(') => rest.split_once(") ")?,
            Some(rest) => ("pub", rest.trim_start()),
            None => ("", line),
        };
        let (keyword, name) = item.split_once(' ')?;
        let is_type = matches!(keyword, "struct" | "enum" | "trait" | "type" | "union");
        let name = name.split(|character| !is_word(character)).next()?;
        (is_type && !name.is_empty()).then_some(Type { name, is_public: visibility == "pub" })
    })
}

/// Returns the names that several types have, with the files of these types.
fn used_twice(sources: &Sources, is_public_only: bool) -> BTreeMap<String, Vec<&str>> {
    let mut files = BTreeMap::<String, Vec<&str>>::new();
    for (file, text) in sources.iter().filter(|(file, _)| !file.ends_with("tests.rs")) {
        for found in types(&code(text)).filter(|found| found.is_public || !is_public_only) {
            files.entry(found.name.to_owned()).or_default().push(file);
        }
    }
    files.retain(|_, files| files.len() > 1);
    files
}

fn lines(names: &BTreeMap<String, Vec<&str>>) -> String {
    names.iter().fold(String::new(), |lines, (name, files)| lines + name + ": " + &files.join(", ") + "\n")
}

#[test]
fn no_two_public_types_have_the_same_name() {
    let sources = sources();
    let names = used_twice(&sources, true);
    assert!(names.is_empty(), "names of public types are used twice:\n{}", lines(&names));
}

#[test]
fn few_types_have_the_same_name_and_each_has_a_reason() {
    let sources = sources();
    let mut names = used_twice(&sources, false);
    assert!(NAMES_USED_TWICE.len() <= 20, "at most 20 names have a reason");
    for (name, _) in NAMES_USED_TWICE {
        assert!(names.remove(*name).is_some(), "only one type is named {name}: remove it from NAMES_USED_TWICE");
    }
    assert!(names.is_empty(), "names are used twice without a reason:\n{}", lines(&names));
}

#[test]
fn few_types_carry_a_call() {
    let sources = sources();
    assert!(CARRIERS.len() <= 8, "at most 8 types carry a call: {CARRIERS:?}");
    for (carrier, place) in CARRIERS {
        let is_defined = |(file, text): (&String, &String)| {
            file.starts_with(place) && types(&code(text)).any(|found| found.name == *carrier)
        };
        assert!(sources.iter().any(is_defined), "{place} defines no type {carrier}");
    }
    let names: BTreeSet<_> = CARRIERS.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), CARRIERS.len(), "{CARRIERS:?}");
}

#[test]
fn names_that_are_used_twice_are_found() {
    let sources = sources_of(&[
        (
            "http/page.rs",
            "pub struct Page;\npub(crate) enum Kind {\n    struct Inner;\n}\n// type Comment = ();\nstruct Form<T>(T);",
        ),
        ("rag/page.rs", "pub(super) trait Page {}\npub type Kind = u8;\nunion Form { a: u8 }"),
        ("rag/tests.rs", "struct Inner;\npub struct Page;"),
        ("text.rs", "pub struct Page(u8);\n#[cfg(test)]\nmod tests {\nstruct Form;\n}"),
    ]);
    let expected =
        "Form: http/page.rs, rag/page.rs\nKind: http/page.rs, rag/page.rs\nPage: http/page.rs, rag/page.rs, text.rs\n";
    assert_eq!(lines(&used_twice(&sources, false)), expected);
    assert_eq!(lines(&used_twice(&sources, true)), "Page: http/page.rs, text.rs\n");
}
