//! The rules of the protocol for a server, all 109 of the project's checklist, and where each is held.
//!
//! A test fails where a number is missing, or where a test that is named does not exist or does not say which rules it
//! holds.

mod list;

use std::fs;
use std::path::Path;

use list::{RULES, Rule, Where};

/// The comment above the test `name` (`chapter::test` in tests/spec, or `file.rs::test`), if it is there.
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

/// Whether a comment names the rule: `Rule 7`, `Rules 6 and 7`, `Rules 1, 2 and 7`.
fn names_rule(comment: &str, number: u8) -> bool {
    let lists = comment.split("Rule").skip(1).map(|after| after.trim_start_matches('s'));
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

#[test]
fn every_test_that_is_named_holds_its_rule() {
    let mut problems = Vec::new();
    for Rule { number, place, .. } in RULES {
        match place {
            Where::Held([]) | Where::DoesNotApply("") => {
                problems.push(format!("rule {number}: nothing is said"));
            }
            Where::Held(tests) => {
                for test in *tests {
                    match comment_above(test) {
                        None => problems.push(format!("rule {number}: there is no test {test}")),
                        Some(comment) if !names_rule(&comment, *number) => {
                            problems.push(format!("rule {number}: {test} does not name it"));
                        }
                        Some(_) => {}
                    }
                }
            }
            Where::DoesNotApply(_) => {}
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_rule_is_found_in_a_comment() {
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
