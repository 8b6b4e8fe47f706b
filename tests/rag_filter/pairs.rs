//! Random filters and metadata. Both use few names and values, so that many tests hold.

use edge_mcp::rag::Filter;
use serde_json::{Map, Value, json};

use crate::random::Random;

const NAMES: [&str; 6] = ["a", "b", "c", "__proto__", "n.x", "n.m.x-y"];
const OPERATORS: [&str; 11] =
    ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists", "$contains", "$not"];
const TEXTS: [&str; 14] =
    ["", "x", "X", "xy", "yx", "5", "true", "é", "e\u{301}", "\u{10ffff}", "\u{ffff}", "a\"b'c\\", "null", "%_"];
const NUMBERS: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    5.0,
    -1.5,
    0.1,
    0.300_000_000_000_000_04,
    0.3,
    1e300,
    -1e300,
    5e-324,
    1e20,
    9_007_199_254_740_992.0,
    9_007_199_254_740_994.0,
    f64::MAX,
    2.2e-308,
];

/// Returns a random filter with the JSON that it was read from.
pub(crate) fn filter(random: &mut Random) -> (Filter, String) {
    loop {
        let depth = random.below(4);
        let json = filter_of(random, depth).to_string();
        // A random filter may exceed a limit.
        if let Ok(filter) = Filter::from_json(&json) {
            return (filter, json);
        }
    }
}

/// Returns a random filter. `depth` is the largest nesting depth of logical operators.
fn filter_of(random: &mut Random, depth: usize) -> Value {
    let mut members = Map::new();
    for _ in 0..=random.below(2) {
        if depth == 0 || !random.once_in(3) {
            members.insert(random.one(&NAMES).to_owned(), test(random));
            continue;
        }
        if random.once_in(4) {
            members.insert("$not".into(), filter_of(random, depth - 1));
        } else {
            let filters = (0..=random.below(3)).map(|_| filter_of(random, depth - 1)).collect();
            members.insert(random.one(&["$and", "$or", "$nor"]).to_owned(), filters);
        }
    }
    Value::Object(members)
}

fn test(random: &mut Random) -> Value {
    match random.below(5) {
        0 => scalar_or_null(random),
        1 => (0..=random.below(3)).map(|_| scalar(random)).collect(),
        _ => operators(random),
    }
}

fn operators(random: &mut Random) -> Value {
    let mut operators = Map::new();
    for _ in 0..=random.below(2) {
        let name = random.one(&OPERATORS);
        let operand = match name {
            "$eq" | "$ne" => scalar_or_null(random),
            "$in" | "$nin" => (0..random.below(4)).map(|_| scalar(random)).collect(),
            "$exists" => random.once_in(2).into(),
            "$contains" => scalar(random),
            "$not" => self::operators(random),
            _ if random.once_in(2) => text(random).into(),
            _ => number(random),
        };
        operators.insert(name.to_owned(), operand);
    }
    Value::Object(operators)
}

fn scalar(random: &mut Random) -> Value {
    match random.below(4) {
        0 => random.once_in(2).into(),
        1 => number(random),
        _ => text(random).into(),
    }
}

fn scalar_or_null(random: &mut Random) -> Value {
    if random.once_in(6) { Value::Null } else { scalar(random) }
}

/// Most numbers are from the list. Others have random bits, or are integers that are not exact as `f64`.
fn number(random: &mut Random) -> Value {
    let mut bits = || u64::from_le_bytes(std::array::from_fn(|_| random.byte()));
    match bits() % 8 {
        0 => Value::from(f64::from_bits(bits())),
        1 => Value::from(bits()),
        2 => Value::from(9_007_199_254_740_991 + bits() % 5),
        3 => Value::from(bits() % 6),
        _ => Value::from(NUMBERS[random.below(NUMBERS.len())]),
    }
}

fn text(random: &mut Random) -> &'static str {
    TEXTS[random.below(TEXTS.len())]
}

/// Returns random metadata that a document can have.
pub(crate) fn metadata(random: &mut Random) -> Map<String, Value> {
    let mut metadata = Map::new();
    for name in ["a", "b", "c", "__proto__", "n"] {
        if !random.once_in(4) {
            metadata.insert(name.to_owned(), value(random));
        }
    }
    if random.once_in(2) {
        metadata.insert("n".into(), json!({ "x": value(random), "m": { "x-y": value(random) } }));
    }
    metadata
}

fn value(random: &mut Random) -> Value {
    match random.below(8) {
        0 => Value::Null,
        1 => json!({}),
        2 => json!({ "x": scalar(random) }),
        3 | 4 => (0..random.below(4)).map(|_| scalar(random)).collect(),
        _ => scalar(random),
    }
}
