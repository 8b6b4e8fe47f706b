//! The rules for the MCP client that are also tested against real servers: the operations in tests/e2e/client-operations.mjs.

use std::fs;
use std::path::Path;

use super::client::CLIENT_RULES;
use super::prefixed;

/// The operations, with the rules that their comments name.
const OPERATIONS: &[(&str, &[u8])] = &[
    ("pages", &[57]),
    ("progress", &[11, 25]),
    ("log", &[25]),
    ("questions", &[30, 31, 32, 35]),
    ("passed questions", &[111, 112, 113, 114]),
    ("header parameters", &[8, 9, 10]),
    ("resumption", &[27]),
    ("cancellation", &[28]),
    ("session end", &[42]),
];

/// Returns the operations in the file whose comments name rules, with the rules.
fn operations(source: &str) -> Vec<(String, Vec<u8>)> {
    let mut comment = String::new();
    let mut found = Vec::new();
    for line in source.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("//") {
            comment.push_str(text);
            continue;
        }
        let rules: Vec<_> = prefixed('C', &std::mem::take(&mut comment)).collect();
        if let Some((name, _)) = line.split_once(": async (")
            && !rules.is_empty()
        {
            found.push((name.trim_matches('\'').to_owned(), rules));
        }
    }
    found
}

#[test]
fn operations_of_real_servers_name_their_rules() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/client-operations.mjs");
    let expected: Vec<_> = OPERATIONS.iter().map(|(name, rules)| ((*name).to_owned(), rules.to_vec())).collect();
    assert_eq!(operations(&fs::read_to_string(file).expect("a text")), expected);
    for number in OPERATIONS.iter().flat_map(|(_, rules)| *rules) {
        assert!(CLIENT_RULES.iter().any(|rule| rule.number == *number), "C{number} is not a rule");
    }
}
