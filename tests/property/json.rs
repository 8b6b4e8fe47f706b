//! JSON trees that can be corrupted. They may contain text that a JSON library does not write, such as duplicate keys.

use serde_json::Value;

use super::random::Random;

/// Values that parsers often handle wrongly.
#[rustfmt::skip]
const HOSTILE: [&str; 44] = [
    "null", "true", "false", "0", "-0", "-1", "1", "1.5", "1.0", "1e2", "1E400", "-1e-400", "9007199254740993",
    "9223372036854775808", "-9223372036854775809", "18446744073709551616", "\"\"", "\" \"", "\"1\"", "\"\\u0000\"",
    "\"\\ud800\"", "\"\\udc00\\ud800\"", "\"\\ud83d\\ude00\"", "\"é\u{202e}\u{2028}\"", "\"\\u00e9\\n\\r\\\"\"",
    "\"__proto__\"", "\"constructor\"", "\"=?base64?ZXU=?=\"", "\"=?base64?Z?=\"", "\"../../%2e%2e\"",
    "\"test://items/%00\"", "\"test://items/%ff\"", "\"2026-07-28\"", "\"2025-03-26\"", "\"tools/call\"", "\"ref/prompt\"",
    "[]", "{}", "[null]", "[[],{}]", "{\"__proto__\":{\"a\":1}}", "{\"\":\"\"}", "{\"a\":1,\"a\":2}", "nul",
];
/// Names of members that have a meaning in MCP, in JSON-RPC or in JavaScript.
#[rustfmt::skip]
const NAMES: [&str; 16] = [
    "id", "jsonrpc", "method", "params", "_meta", "result", "error", "name", "uri", "arguments", "cursor", "requestState",
    "inputResponses", "__proto__", "progressToken", "",
];
/// Depths of nesting, below and above each limit.
const DEPTHS: [usize; 9] = [1, 2, 50, 95, 98, 100, 101, 128, 5_000];

/// A JSON tree whose texts are written as they are, without a check.
#[derive(Clone, Debug)]
pub enum Json {
    /// A scalar, or any other text.
    Text(String),
    Array(Vec<Self>),
    /// The keys are JSON literals with quotes.
    Object(Vec<(String, Self)>),
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        match value {
            Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            Value::Object(members) => {
                Self::Object(members.iter().map(|(key, value)| (literal(key), Self::from(value))).collect())
            }
            scalar => Self::Text(scalar.to_string()),
        }
    }
}

fn literal(text: &str) -> String {
    Value::from(text).to_string()
}

impl Json {
    pub fn write(&self, to: &mut String) {
        match self {
            Self::Text(text) => to.push_str(text),
            Self::Array(items) => {
                to.push('[');
                for (nth, item) in items.iter().enumerate() {
                    to.push_str(if nth == 0 { "" } else { "," });
                    item.write(to);
                }
                to.push(']');
            }
            Self::Object(members) => {
                to.push('{');
                for (nth, (key, value)) in members.iter().enumerate() {
                    to.push_str(if nth == 0 { "" } else { "," });
                    to.push_str(key);
                    to.push(':');
                    value.write(to);
                }
                to.push('}');
            }
        }
    }

    fn written(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn children(&mut self) -> Vec<&mut Self> {
        match self {
            Self::Text(_) => Vec::new(),
            Self::Array(items) => items.iter_mut().collect(),
            Self::Object(members) => members.iter_mut().map(|(_, value)| value).collect(),
        }
    }

    fn count(&mut self) -> usize {
        self.children().into_iter().map(Self::count).sum::<usize>() + 1
    }

    /// Returns the `nth` value in the order of the text. The tree itself is the value 0.
    fn nth(&mut self, mut nth: usize) -> &mut Self {
        if nth == 0 {
            return self;
        }
        nth -= 1;
        let counts: Vec<_> = self.children().into_iter().map(Self::count).collect();
        let child = counts.iter().position(|count| {
            let is_here = nth < *count;
            nth -= if is_here { 0 } else { *count };
            is_here
        });
        self.children().swap_remove(child.expect("`nth` is less than the number of values")).nth(nth)
    }

    /// Sets the member `name` of an object, or adds it.
    pub fn set(&mut self, name: &str, text: &str) {
        let Self::Object(members) = self else { return };
        let (name, value) = (literal(name), Self::Text(text.to_owned()));
        match members.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => members.push((name, value)),
        }
    }

    /// Corrupts one random value of the tree.
    pub fn corrupt(&mut self, random: &mut Random) {
        let count = self.count();
        let elsewhere = self.nth(random.below(count)).clone();
        let here = self.nth(random.below(count));
        match (random.below(9), here) {
            (0, here) => *here = Self::Text(hostile(random)),
            (1, here) => *here = Self::Array(vec![here.clone(), Self::Text(hostile(random))]),
            (2, Self::Object(members)) if !members.is_empty() => drop(members.remove(random.below(members.len()))),
            (2, Self::Array(items)) if !items.is_empty() => drop(items.remove(random.below(items.len()))),
            (3, Self::Object(members)) if !members.is_empty() => {
                let (key, value) = members[random.below(members.len())].clone();
                let value = if random.once_in(2) { value } else { elsewhere };
                members.push((if random.once_in(2) { key } else { escaped(&key) }, value));
            }
            (4, Self::Object(members)) => members.push((literal(random.one(&NAMES)), elsewhere)),
            (5, Self::Object(members)) if !members.is_empty() => {
                let at = random.below(members.len());
                members[at].0 = literal(random.one(&NAMES));
            }
            (6, here) => {
                let depth = DEPTHS[random.below(DEPTHS.len())];
                *here = Self::Text(format!("{}{}{}", "[".repeat(depth), here.written(), "]".repeat(depth)));
            }
            (7, Self::Object(members)) if !members.is_empty() => {
                let (one, other) = (random.below(members.len()), random.below(members.len()));
                members.swap(one, other);
            }
            (7, Self::Text(text)) => *text = if text.starts_with('"') { "7".into() } else { format!("\"{text}\"") },
            (_, here) => *here = if random.once_in(3) { elsewhere } else { Self::Text(hostile(random)) },
        }
    }
}

/// Returns the same key with its first character escaped, if this is an ASCII letter or digit.
fn escaped(literal: &str) -> String {
    let inner = literal.get(1..).unwrap_or_default();
    let first = inner.chars().next().filter(char::is_ascii_alphanumeric);
    first.map_or_else(|| literal.to_owned(), |first| format!("\"\\u{:04x}{}", u32::from(first), &inner[1..]))
}

/// Returns the JSON text of a value that parsers often handle wrongly.
pub fn hostile(random: &mut Random) -> String {
    match random.below(24) {
        0 => "9".repeat(400),
        1 => format!("\"{}\"", "x".repeat(20_000)),
        2 => format!("[{}0]", "0,".repeat(3_000)),
        3 => literal(&String::from_utf8_lossy(&random.bytes(12))),
        _ => random.one(&HOSTILE).to_owned(),
    }
}
