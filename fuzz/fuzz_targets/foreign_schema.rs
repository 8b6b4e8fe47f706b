//! Fuzzes the compilation of schemas of other servers. It stays within its limits on steps and memory, and a schema that is enforced means
//! the same as if it were a schema of this program.
//!
//! The first line of the input is a template of the schema, and the rest is a value. Large schemas are short templates: an array
//! `["repeat", count, item]` stands for `count` items, an object with the member `repeat` for members with numbers in their names, and
//! `<1000>` in a text for 1000 characters. If the compilation takes longer than its number of steps suggests, the fuzzer reports a timeout.
#![no_main]

use std::cell::Cell;

use edge_json::{Document, JsonLimits};
use edge_json_schema::{NotEnforceable, Validator};
use libfuzzer_sys::fuzz_target;
use peak_alloc::PeakAlloc;
use serde_json::{Map, Value as Json};

/// The limits of edge-mcp.
const MOST_STEPS: u32 = 2_000_000;
const MOST_BYTES_OF_A_DEFINITION: usize = 64 << 10;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The bytes that the compilation may have allocated at any time. They include the schema as a JSON value.
const MOST_BYTES: usize = 16 << 20;

fuzz_target!(|input: &str| {
    let (template, value) = input.split_once('\n').unwrap_or((input, "null"));
    let Ok(template) = serde_json::from_str::<Json>(template) else { return };
    let Some(schema) = expanded(&template, 0, &mut MOST_BYTES_OF_A_DEFINITION.clone()) else { return };
    if schema.to_string().len() > MOST_BYTES_OF_A_DEFINITION {
        return;
    }
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let left = Cell::new(MOST_STEPS);
    let compiled = Validator::within(schema.clone(), &left);
    let steps = MOST_STEPS - left.get();
    let bytes = MEMORY.peak_usage().saturating_sub(before);
    assert!(steps <= MOST_STEPS, "{steps} steps");
    assert!(bytes <= MOST_BYTES, "{bytes} bytes");
    match compiled {
        Err(NotEnforceable::TooCostly) => assert_eq!(steps, MOST_STEPS),
        Err(NotEnforceable::Unsupported(_) | NotEnforceable::Invalid(_)) => assert!(Validator::new(schema).is_err()),
        Ok(compiled) => {
            // Compiled without a limit on steps, the schema has the same verdicts.
            let own = Validator::new(schema).expect("a schema that was compiled before");
            let Ok(document) = Document::parse(value.as_bytes(), JsonLimits::default()) else { return };
            assert_eq!(compiled.validate(document.root()), own.validate(document.root()));
        }
    }
});

/// Expands a template. `left` is the number of bytes that the result may still have. Returns `None` beyond this number.
fn expanded(template: &Json, nth: usize, left: &mut usize) -> Option<Json> {
    *left = left.checked_sub(2)?;
    Some(match template {
        Json::String(text) => long(text, nth, left)?.into(),
        Json::Array(items) => match items.as_slice() {
            [Json::String(word), Json::Number(count), item] if word == "repeat" => {
                (0..count.as_u64()?).map(|nth| expanded(item, nth as usize, left)).collect::<Option<Vec<_>>>()?.into()
            }
            items => items.iter().map(|item| expanded(item, nth, left)).collect::<Option<Vec<_>>>()?.into(),
        },
        Json::Object(members) => {
            let count = members.get("repeat").and_then(Json::as_u64);
            let mut all = Map::new();
            for nth in count.map_or(nth..nth + 1, |count| 0..count as usize) {
                for (name, member) in members.iter().filter(|(name, _)| *name != "repeat") {
                    let name = long(name, nth, left)?;
                    let name = if count.is_some() { format!("{name}{nth:x}") } else { name };
                    all.insert(name, expanded(member, nth, left)?);
                }
            }
            all.into()
        }
        other => other.clone(),
    })
}

/// Replaces `<1000>` by 1000 characters, and `%` by the number of the repetition.
fn long(text: &str, nth: usize, left: &mut usize) -> Option<String> {
    let mut text = text.replace('%', &format!("{nth:x}"));
    if let Some((before, rest)) = text.split_once('<')
        && let Some((count, after)) = rest.split_once('>')
        && let Ok(count @ 0..=MOST_BYTES_OF_A_DEFINITION) = count.parse()
    {
        text = format!("{before}{}{after}", "n".repeat(count));
    }
    *left = left.checked_sub(text.len())?;
    Some(text)
}
