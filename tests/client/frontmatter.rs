//! The reader of the name and the description in the frontmatter of skills. `tests/e2e/scripts/skills.test.mjs` runs the same table with the
//! reader of `scripts/skills`, with the package yaml, and with the official SDK.

use edge_mcp::parsers::frontmatter::{Frontmatter, read};
use serde_json::Value;

/// Returns the description in a frontmatter with these lines.
fn description(yaml: &str) -> Option<String> {
    read(&format!("---\nname: n\n{yaml}\n---\nText.\n")).map(|read| read.description).ok()
}

/// Cases that this reader takes or rejects otherwise than the script: it reads double quotes as JSON, and does not read the other members.
const OTHER: [&str; 5] = [
    r#"a: "\u00e9\x41\U0001F600""#,
    r#"a: "\uD83D\uDE00""#,
    r#"a: "\0\a\b\t\v\f\r\e\ \"\/\\\N\_\L\P""#,
    "a: \"tab\there\"",
    "a: |\none",
];

/// S20, S21: the client reads a text that the script takes as the script does, and rejects what the script refuses.
#[test]
fn a_text_is_read_as_the_script_reads_it() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../frontmatter.json")).expect("the table");
    let mut texts = 0;
    for case in cases {
        let yaml = case["yaml"].as_str().expect("a text");
        let Some(value) = yaml.strip_prefix('a').filter(|value| value.trim_start().starts_with(':')) else { continue };
        if OTHER.contains(&yaml) {
            continue;
        }
        let read = description(&format!("description{value}"));
        match &case["value"]["a"] {
            Value::String(text) => {
                assert_eq!(read.as_ref(), Some(text), "{case}");
                texts += 1;
            }
            _ => assert_eq!(read, None, "{case}"),
        }
    }
    assert!(texts >= 60, "{texts} texts");
}

/// S19: the frontmatter is between two lines of dashes.
#[test]
fn the_first_line_begins_the_frontmatter() {
    let member = "name: n\ndescription: d";
    for text in
        ["---\nA\n---\n", "---\nA\n---", "---\r\nA\r\n--- \t\r\ntext", "---\nA\n---\n---\n", "---\nx:\n- y\nA\n---"]
    {
        let expected = Frontmatter { name: "n".into(), description: "d".into() };
        assert_eq!(read(&text.replace('A', member)), Ok(expected), "{text:?}");
    }
    for text in [
        "",
        "---",
        "A\n---\n",
        "--- \nA\n---\n",
        "\u{feff}---\nA\n---\n",
        "---\nA\n...\n",
        "---\n---\n",
        "---\nA\nb: c\rd\n---\n",
    ] {
        assert!(read(&text.replace('A', member)).is_err(), "{text:?}");
    }
}

/// S33, extension case 15: long frontmatter is rejected, and so is a member that occurs twice. The other members are not read.
#[test]
fn hostile_frontmatter_is_bounded() {
    let read = |more: &str| description(&format!("description: d\n{more}"));
    let members = "name: n\ndescription: d\n".len() + "b: ".len() + 1;
    let text = |bytes: usize| format!("b: {}", "x".repeat(bytes - members));
    assert!(read(&text(64 << 10)).is_some() && read(&text((64 << 10) + 1)).is_none());
    for more in [format!("b: {}", "[".repeat(30_000)), "b: &c 1\nd: *c".into(), "b:\n  - c: [d".into()] {
        assert!(read(&more).is_some(), "{more}");
    }
    for more in ["name: n", "description: d", "description : d", "description:\td"] {
        assert!(read(more).is_none(), "{more}");
    }
}

/// The beginnings and the middle parts of lines, which a random text combines.
const PARTS: [&str; 34] = [
    "description: ",
    "b:",
    "- ",
    "  ",
    "\n",
    "\n  ",
    "\n    ",
    "\"",
    "'",
    "[",
    "]",
    "{",
    "}",
    ", ",
    ": ",
    "#",
    " #",
    "|",
    ">-",
    "|+",
    "\t",
    "\\",
    "\\u00",
    "7",
    "1e9",
    "-0",
    " 0x",
    "null",
    "é",
    "😀",
    "\r\n",
    "---",
    "&",
    "text",
];

/// No text makes the reader panic, and it reads the JSON of a text as the same text. A fuzz target checks more texts.
#[test]
fn random_frontmatter_does_not_panic() {
    let mut state = 1_u64;
    let mut random = |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("a number") % most
    };
    let mut taken = 0;
    for _ in 0..50_000 {
        let value: String = (0..random(12)).map(|_| PARTS[random(PARTS.len())]).collect();
        let Some(text) = description(&format!("description: {value}")) else { continue };
        let json = Value::String(text.clone()).to_string();
        assert_eq!(description(&format!("description: {json}")), Some(text), "{value:?}");
        taken += 1;
    }
    assert!(taken > 100, "{taken} texts are taken");
}
