//! Checks the lists of the rules for a server, for the client and for retrieval, with the tests of each rule.
//!
//! A test fails if a number is missing, if a listed test does not exist, or if the comment of a listed test does not name its rule.

mod client;
mod hostile;
mod list;
mod peers;
mod retrieval;

use std::fs;
use std::path::{Path, PathBuf};

use client::CLIENT_RULES;
use list::{Coverage, RULES, Rule};
use retrieval::RETRIEVAL_RULES;

/// Returns the comment and the attributes above the test `name`: `chapter::test` in `tests/spec`, or `path/file.rs::test`. Returns
/// `None` if there is no such test.
fn comment_above(name: &str) -> Option<String> {
    let (place, test) = name.rsplit_once("::")?;
    let file = if place.contains('.') { place.to_owned() } else { format!("tests/spec/{place}.rs") };
    let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).ok()?;
    let lines: Vec<_> = source.lines().map(str::trim).collect();
    let at = lines
        .iter()
        .position(|line| line.starts_with(&format!("fn {test}(")) || line.contains(&format!("test('{test}'")))?;
    let above = lines.iter().take(at).rev().take_while(|line| line.starts_with("//") || line.starts_with("#["));
    Some(above.copied().collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join(" "))
}

/// Returns whether a comment names the rule: `Rule 7`, `Rules 6 and 7`, `Rules 1, 2 and 7`.
fn names_rule(comment: &str, number: u8) -> bool {
    words_name("Rule", comment, number)
}

/// Returns whether a comment has the number after a word: `word 7`, `words 6 and 7`.
fn words_name(word: &str, comment: &str, number: u8) -> bool {
    let lists = comment.split(word).skip(1).map(|after| after.trim_start_matches('s'));
    let numbers = lists.flat_map(|after| {
        let end = after
            .find(|c: char| !(c.is_ascii_digit() || c == ',' || c == ' ' || "and".contains(c)))
            .unwrap_or(after.len());
        after
            .chars()
            .take(end)
            .collect::<String>()
            .split(|c: char| !c.is_ascii_digit())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    numbers.filter_map(|digits| digits.parse::<u8>().ok()).any(|named| named == number)
}

#[test]
fn every_rule_is_listed_once() {
    let numbers: Vec<_> = RULES.iter().map(|rule| rule.number).collect();
    assert_eq!(numbers, (1..=109).collect::<Vec<u8>>());
    for Rule { number, text, .. } in RULES {
        assert!(text.len() > 20, "rule {number} has no text");
    }
}

/// Returns the rules that a comment names with a prefix, such as `C7`.
fn prefixed(prefix: char, comment: &str) -> impl Iterator<Item = u8> {
    let words = comment.split(|c: char| !(c.is_ascii_alphanumeric() || c == '`'));
    words.filter_map(move |word| word.strip_prefix(prefix)?.parse().ok())
}

/// Returns the problems of a list of rules: tests that do not exist, or whose comment does not name their rule.
///
/// `names` gets the name of a test, its comment and a number.
fn problems(rules: &[Rule], names: impl Fn(&str, &str, u8) -> bool) -> Vec<String> {
    let mut problems = Vec::new();
    for Rule { number, coverage, .. } in rules {
        match coverage {
            Coverage::TestedBy([]) | Coverage::CheckedIn([]) | Coverage::DoesNotApply("") => {
                problems.push(format!("rule {number} has neither tests nor a reason"));
            }
            Coverage::TestedBy(tests) => {
                for test in *tests {
                    match comment_above(test) {
                        None => problems.push(format!("rule {number}: the test {test} does not exist")),
                        Some(comment) if !names(test, &comment, *number) => {
                            problems.push(format!("rule {number}: the comment of {test} does not name the rule"));
                        }
                        Some(_) => {}
                    }
                }
            }
            Coverage::CheckedIn(files) => {
                let missing = files.iter().filter(|file| !Path::new(env!("CARGO_MANIFEST_DIR")).join(file).is_file());
                problems.extend(missing.map(|file| format!("rule {number}: the file {file} does not exist")));
            }
            Coverage::DoesNotApply(_) => {}
        }
    }
    problems
}

#[test]
fn listed_tests_exist_and_name_their_rules() {
    let mut problems = problems(RULES, |_, comment, number| names_rule(comment, number));
    for Prefixed { prefix, rules, .. } in PREFIXED {
        problems.extend(self::problems(rules, |_, comment, number| {
            prefixed(*prefix, comment).any(|named| named == number)
        }));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// A list of rules whose numbers have a prefix.
struct Prefixed {
    prefix: char,
    rules: &'static [Rule],
    /// The folders whose tests name the rules.
    folders: &'static [&'static str],
}

const PREFIXED: &[Prefixed] = &[
    Prefixed { prefix: 'C', rules: CLIENT_RULES, folders: &["tests/client", "src/client"] },
    Prefixed {
        prefix: 'R',
        rules: RETRIEVAL_RULES,
        folders: &["tests/rag_filter", "tests/rag_store", "tests/rag_tools", "src/rag"],
    },
];

#[test]
fn prefixed_rules_are_in_order() {
    for Prefixed { rules, .. } in PREFIXED {
        let numbers: Vec<_> = rules.iter().map(|rule| rule.number).collect();
        assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
        assert!(rules.iter().all(|rule| rule.text.len() > 20));
    }
}

/// Returns the Rust files in a folder and in its folders.
#[allow(clippy::expect_used)]
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let files = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// Each rule that a comment in the tests names is in the list, with its tests.
#[test]
fn rules_that_tests_name_are_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut missing = Vec::new();
    for Prefixed { prefix, rules, folders } in PREFIXED {
        let is_listed = |number| {
            let is_tested = |rule: &Rule| rule.number == number && matches!(rule.coverage, Coverage::TestedBy(_));
            rules.iter().any(is_tested)
        };
        for file in folders.iter().flat_map(|folder| sources(&root.join(folder))) {
            let text = fs::read_to_string(&file).expect("a text");
            let comments = text.lines().filter_map(|line| line.trim().strip_prefix("///"));
            let unlisted = comments.flat_map(|comment| prefixed(*prefix, comment)).filter(|number| !is_listed(*number));
            missing.extend(unlisted.map(|number| format!("{prefix}{number} is named in {}", file.display())));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn prefixed_rules_are_found_in_comments() {
    for (comment, number, named) in [
        ("/// C7: x", 7, true),
        ("/// The hostile case 4, C6, C7: x", 7, true),
        ("/// Rule 7: x", 7, false),
        ("/// C70: x", 7, false),
        ("/// `C7` is a type", 7, false),
        ("/// R7: x", 7, false),
    ] {
        assert_eq!(prefixed('C', comment).any(|rule| rule == number), named, "{comment}");
    }
}

#[test]
fn rule_numbers_are_found_in_comments() {
    for (comment, number, named) in [
        ("/// Rule 7: x", 7, true),
        ("/// Rules 6 and 7: x", 6, true),
        ("/// Rules 1, 2 and 7: x", 2, true),
        ("/// CVE-2026-1, rule 7: x", 7, false),
        ("/// Rule 70: x", 7, false),
        ("/// Rule 6: 7 of them", 7, false),
    ] {
        assert_eq!(names_rule(comment, number), named, "{comment}");
    }
}
