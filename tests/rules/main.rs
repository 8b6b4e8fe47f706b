//! Checks that each rule has a test or a reason why it has none.
//!
//! The comment above a test names its rules and says what they require: `/// Rule 7: …`, `/// C3, C44: …`. `numbers.rs` has the numbers
//! and the exceptions.

// Tests and their helpers may panic when an assumption fails.
#![allow(clippy::expect_used)]

mod numbers;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use numbers::{Exception, GROUPS, Group};

/// Returns the numbers of the rules that a comment names: `C7` for the name `C`, and `Rules 6 and 7` for the name `Rule`.
fn named(name: &str, comment: &str) -> Vec<u8> {
    if name.len() == 1 {
        let words = comment.split(|c: char| !(c.is_ascii_alphanumeric() || c == '`'));
        return words.filter_map(|word| word.strip_prefix(name)?.parse().ok()).collect();
    }
    let lists = comment.split(name).skip(1).map(|after| after.trim_start_matches('s'));
    let in_lists = lists
        .map(|after| after.split(|c: char| !(c.is_ascii_digit() || ", and".contains(c))).next().unwrap_or_default());
    in_lists
        .flat_map(|list| list.split(|c: char| !c.is_ascii_digit()))
        .filter_map(|digits| digits.parse().ok())
        .collect()
}

/// Returns the comments above the tests of a file, and the rows of its tables that begin with the number of a hostile case.
fn comments(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut above = String::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        if line.starts_with("//") {
            above.push_str(line);
            above.push(' ');
        } else if line.starts_with("#[") {
            is_test |= line == "#[test]";
        } else {
            if is_test || ["test(", "test.skip(", "for (const "].iter().any(|start| line.starts_with(start)) {
                found.push(above.clone());
            } else if let Some(number) =
                line.trim_start_matches('(').strip_prefix('"').and_then(|row| row.split(' ').next())
            {
                found.push(format!("hostile case {number}"));
            }
            above.clear();
            is_test = false;
        }
    }
    found
}

/// Returns the problems of a group: rules with neither a test nor an exception, or with both, and numbers that are not rules.
fn problems(Group { name, last, exceptions, .. }: &Group, tested: &BTreeMap<u8, PathBuf>) -> Vec<String> {
    let excepted: BTreeSet<_> =
        exceptions.iter().flat_map(|Exception { numbers, .. }| *numbers).cloned().flatten().collect();
    let rules = (1..=*last).filter_map(|number| match (tested.contains_key(&number), excepted.contains(&number)) {
        (false, false) => Some(format!("{name} {number} has neither a test nor an exception")),
        (true, true) => Some(format!("{name} {number} has an exception, but also a test")),
        _ => None,
    });
    let unknown = tested.iter().filter(|(number, _)| !(1..=*last).contains(number));
    let unknown = unknown
        .map(|(number, file)| format!("{name} {number} is not a rule, but a test in {} names it", file.display()));
    rules.chain(unknown).collect()
}

/// Returns the sources in a folder and in its folders.
fn sources(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path());
        return entries.flat_map(|path| sources(&path)).collect();
    }
    let is_source = path.extension().is_some_and(|extension| extension == "rs" || extension == "mjs");
    if is_source { vec![path.to_owned()] } else { Vec::new() }
}

#[test]
fn each_rule_has_a_test_or_an_exception() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for group in GROUPS {
        let mut tested = BTreeMap::new();
        for file in group.folders.iter().flat_map(|folder| sources(&root.join(folder))) {
            let source = fs::read_to_string(&file).expect("a text");
            let numbers = comments(&source).into_iter().flat_map(|comment| named(group.name, &comment));
            tested.extend(numbers.map(|number| (number, file.clone())));
        }
        found.extend(problems(group, &tested));
        assert!(group.exceptions.iter().all(|exception| !exception.reason.is_empty()), "each exception has a reason");
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn gaps_contradictions_and_unknown_numbers_are_found() {
    let exceptions = &[Exception { numbers: &[2..=3], reason: "The server has no sessions." }];
    let group = Group { name: "Rule", last: 4, folders: &[], exceptions };
    let tested = [1, 3, 5].map(|number| (number, PathBuf::from("a.rs"))).into();
    assert_eq!(
        problems(&group, &tested),
        [
            "Rule 3 has an exception, but also a test",
            "Rule 4 has neither a test nor an exception",
            "Rule 5 is not a rule, but a test in a.rs names it",
        ]
    );
}

#[test]
fn comments_above_tests_name_rules() {
    for (name, comment, numbers) in [
        ("Rule", "/// Rule 7: x", vec![7]),
        ("Rule", "/// Rules 6 and 7: x", vec![6, 7]),
        ("Rule", "/// Rules 1, 2 and 7: x", vec![1, 2, 7]),
        ("Rule", "/// It is so. Rule 7: x", vec![7]),
        ("Rule", "/// CVE-2026-1, rule 7: x", vec![]),
        ("Rule", "/// Rule 6: 7 of them", vec![6]),
        ("C", "/// C7: x", vec![7]),
        ("C", "/// The hostile case 4, C6, C7: x", vec![6, 7]),
        ("C", "/// `C7` is a type", vec![]),
        ("C", "/// R7: x", vec![]),
        ("hostile case", "/// The hostile cases 6 and 7, C8: x", vec![6, 7]),
    ] {
        let source =
            format!("{comment}\n#[test]\nfn a() {{}}\n/// Rule 1, C1, the hostile case 1: not a test\nfn b() {{}}");
        let found: Vec<_> = comments(&source).into_iter().flat_map(|comment| named(name, &comment)).collect();
        assert_eq!(found, numbers, "{comment}");
    }
    assert_eq!(named("hostile case", &comments("    (\"7 no answer\", 1),").concat()), [7]);
    assert_eq!(comments("// R26, R29\ntest('it holds', () => {})"), ["// R26, R29 "]);
}
