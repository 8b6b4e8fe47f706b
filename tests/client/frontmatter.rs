//! The reader of the frontmatter of skills. `tests/e2e/scripts/skills.test.mjs` runs the same table with the reader of `scripts/skills`, with
//! the package yaml, and with the official SDK.

use edge_mcp::parsers::frontmatter::{Mistake, read};
use serde_json::{Value, json};

fn file(yaml: &str) -> String {
    format!("---\n{yaml}\n---\nText.\n")
}

/// Returns whether two values are equal. Numbers are compared by value.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has = |(key, value): (&String, &Value)| other.get(key).is_some_and(|other| is_same(value, other));
            one.len() == other.len() && one.iter().all(has)
        }
        (one, other) => one == other,
    }
}

/// S20, S21: the client reads what the script takes as the script does, and rejects what the script refuses.
#[test]
fn frontmatter_is_read_as_the_script_reads_it() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../frontmatter.json")).expect("the table");
    assert!(cases.len() > 250);
    for case in cases {
        let read = read(&file(case["yaml"].as_str().expect("a text"))).map(Value::Object);
        match case.get("value") {
            Some(value) => assert!(read.as_ref().is_ok_and(|read| is_same(read, value)), "{case} is read as {read:?}"),
            None => assert!(read.is_err(), "{case} is read as {read:?}"),
        }
    }
}

/// S19: the frontmatter is between two lines of dashes. The error has the line.
#[test]
fn the_first_line_begins_the_frontmatter() {
    for text in ["---\na: b\n---\n", "---\na: b\n---", "---\r\na: b\r\n--- \t\r\ntext", "---\na: b\n---\n---\n"] {
        assert_eq!(read(text).map(Value::Object), Ok(json!({ "a": "b" })), "{text:?}");
    }
    for (text, line) in [
        ("", 1),
        ("---", 1),
        ("a: b\n---\n", 1),
        ("--- \na: b\n---\n", 1),
        ("\u{feff}---\na: b\n---\n", 1),
        ("+++\na = 1\n+++\n", 1),
        ("---\na: b\n...\n", 1),
        ("---\n---\n", 1),
        ("---\n# a\n---\n", 1),
        ("---\na: b\n\nb: *c\n---\n", 4),
        ("---\na:\n  - b: [c\n---\n", 3),
        ("---\na: b\r\nb: c\rd\n---\n", 3),
    ] {
        assert_eq!(read(text).map_err(|Mistake { line, .. }| line), Err(line), "{text:?}");
    }
}

/// S33, extension case 15: large, deep and repeated frontmatter is rejected.
#[test]
fn hostile_frontmatter_is_bounded() {
    let values = |count: usize| (0..count).map(|nth| format!("k{nth}: 1")).collect::<Vec<_>>().join("\n");
    let brackets = |depth: usize| format!("a: {}1{}", "[".repeat(depth), "]".repeat(depth));
    let braces = |depth: usize| format!("{}a: 1{}", "a: {".repeat(depth), "}".repeat(depth));
    let lines = |depth: usize| (0..=depth).map(|nth| " ".repeat(nth) + "a:\n").collect::<String>();
    let lists = |depth: usize| format!("a:\n{}1", "- ".repeat(depth));
    let text = |bytes: usize| format!("a: {}", "x".repeat(bytes - 4));
    for (taken, rejected, problem) in [
        (text(64 << 10), text((64 << 10) + 1), "64 KiB"),
        (values(1999), values(2000), "more values"),
        (brackets(31), brackets(32), "32 levels"),
        (braces(31), braces(32), "32 levels"),
        (lists(31), lists(32), "32 levels"),
        (lines(31) + &" ".repeat(32) + "b", lines(32) + &" ".repeat(33) + "b", "32 levels"),
        ("a: 1".into(), brackets(30_000), "32 levels"),
        ("a: 1".into(), lists(30_000), "32 levels"),
        ("a: 1".into(), values(100_000), "64 KiB"),
    ] {
        assert!(read(&file(&taken)).is_ok(), "{problem}: {:?}", read(&file(&taken)).err());
        let error = read(&file(&rejected)).expect_err(problem);
        assert!(error.problem.contains(problem), "{error:?} instead of {problem}");
    }
}

/// The beginnings and the middle parts of lines, which a random text combines.
const PARTS: [&str; 34] = [
    "a: ", "b:", "- ", "  ", "\n", "\n  ", "\n    ", "\"", "'", "[", "]", "{", "}", ", ", ": ", "#", " #", "|", ">-",
    "|+", "\t", "\\", "\\u00", "7", "1e9", "-0", "0x", "null", "é", "😀", "\r\n", "---", "&", "text",
];

/// No text makes the reader panic, and it reads the JSON of its values as the same values. A fuzz target checks more texts.
#[test]
fn random_frontmatter_does_not_panic() {
    let mut state = 1_u64;
    let mut random = |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("a number") % most
    };
    let mut taken = 0;
    for _ in 0..50_000 {
        let text: String = (0..random(12)).map(|_| PARTS[random(PARTS.len())]).collect();
        let Ok(frontmatter) = read(&file(&format!("k: v\n{text}"))) else { continue };
        // In one line, JSON is YAML.
        let json: String = frontmatter
            .iter()
            .map(|(name, value)| json!(name).to_string() + ": " + &value.to_string() + "\n")
            .collect();
        assert_eq!(read(&file(json.trim_end())), Ok(frontmatter), "{text:?}");
        taken += 1;
    }
    assert!(taken > 100, "{taken} texts are taken");
}
