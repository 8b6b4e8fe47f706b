//! Fuzzes the reader of the frontmatter of skills. It never panics, and what it reads it reads again from the same texts in JSON.
#![no_main]

use edge_mcp::parsers::frontmatter::read;
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fuzz_target!(|input: &str| {
    let file = if input.starts_with("---") { input.to_owned() } else { format!("---\nname: n\ndescription: {input}\n---\n") };
    let Ok(frontmatter) = read(&file) else { return };
    let again = format!("---\nname: {}\ndescription: {}\n---\n", json!(frontmatter.name), json!(frontmatter.description));
    // With escapes, texts may exceed the limit. JSON does not escape all characters that a frontmatter cannot have.
    let is_special = |it: char| it != '\n' && it.is_control() || "\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}".contains(it);
    if again.len() <= 64 << 10 && !again.contains(is_special) {
        assert_eq!(read(&again), Ok(frontmatter), "{again}");
    }
});
