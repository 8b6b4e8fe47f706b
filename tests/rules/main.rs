//! Checks the list of the 109 protocol rules for a server, with the tests of each rule.
//!
//! A test fails if a number is missing, if a listed test does not exist, or if the comment of a listed test does not name its rule.

mod list;

use std::fs;
use std::path::Path;

use list::{Coverage, RULES, Rule};

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
fn listed_tests_exist_and_name_their_rules() {
    let mut problems = Vec::new();
    for Rule { number, coverage, .. } in RULES {
        match coverage {
            Coverage::TestedBy([]) | Coverage::DoesNotApply("") => {
                problems.push(format!("rule {number} has neither tests nor a reason"));
            }
            Coverage::TestedBy(tests) => {
                for test in *tests {
                    match comment_above(test) {
                        None => problems.push(format!("rule {number}: the test {test} does not exist")),
                        Some(comment) if !names_rule(&comment, *number) => {
                            problems.push(format!("rule {number}: the comment of {test} does not name the rule"));
                        }
                        Some(_) => {}
                    }
                }
            }
            Coverage::DoesNotApply(_) => {}
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
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
