//! Fuzzes the reader of the frontmatter of skills. It never panics, its values are within the limits, and what it reads it reads again from the
//! text of the same values in JSON, which is YAML on one line.
#![no_main]

use edge_mcp::parsers::frontmatter::read;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|input: &str| {
    let file = if input.starts_with("---") { input.to_owned() } else { format!("---\n{input}\n---\n") };
    let Ok(frontmatter) = read(&file) else { return };
    let values = frontmatter.values().map(|value| check(value, 1)).sum::<usize>();
    assert!(values < 2000, "{values} values");
    let mut again = String::from("---\n");
    for (name, value) in &frontmatter {
        again.push_str(&format!("{}: {value}\n", Value::from(name.as_str())));
    }
    again.push_str("---\n");
    // A text may have characters that YAML has only as escapes. With escapes, texts may exceed the limits.
    let is_special = |it: char| it != '\n' && it.is_control() || "\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}".contains(it);
    let is_short = again.len() <= 64 << 10 && frontmatter.keys().all(|name| name.len() < 100);
    if is_short && !again.contains(is_special) {
        assert_eq!(read(&again).as_ref(), Ok(&frontmatter), "{again}");
    }
});

/// Checks the depth of a value, and returns the number of values in it.
fn check(value: &Value, depth: usize) -> usize {
    assert!(depth <= 32);
    match value {
        Value::Array(items) => items.iter().map(|item| check(item, depth + 1)).sum::<usize>() + 1,
        Value::Object(members) => members.values().map(|member| check(member, depth + 1)).sum::<usize>() + 1,
        _ => 1,
    }
}
