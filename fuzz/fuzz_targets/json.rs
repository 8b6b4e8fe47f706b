//! JSON: read here if and only if serde_json reads it and it has no key twice, is not too deep and not too long; and what was
//! read is the same.
//!
//! An odd first byte makes the rest a plan: each byte adds a part, so that brackets match and keys are met twice. Otherwise the
//! rest is the text. The depth and the number of values are limited to little, so that both limits are met.
#![no_main]

use std::collections::BTreeSet;
use std::fmt;

use edge_mcp::json::{Document, JsonError, JsonLimits, Kind, Value};
use libfuzzer_sys::fuzz_target;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

const LIMITS: JsonLimits = JsonLimits { depth: 8, values: 64 };

/// Keys, two of which are one.
const KEYS: [&str; 8] =
    ["\"a\"", "\"\\u0061\"", "\"b\"", "\"\"", "\"aa\"", "\"\\ud83d\\ude00\"", "\"😀\"", "\"\\ud800\""];
#[rustfmt::skip]
const SCALARS: [&str; 16] = [
    "0", "-0", "1.5", "1e400", "18446744073709551616", "01", "true", "false", "null", "\"\"", "\"\\n\"", "\"\\u0000\"",
    "\"\\ud83d\\ude00\"", "\"\\ud83d\"", "\"\n\"", " \"é\" ",
];

fuzz_target!(|input: &[u8]| {
    let Some((first, rest)) = input.split_first() else { return };
    if first % 2 == 0 { compare(rest) } else { compare(woven(rest).as_bytes()) }
});

/// The text that `plan` comes to.
fn woven(plan: &[u8]) -> String {
    let (mut text, mut open) = (String::new(), Vec::new());
    for byte in plan {
        let which = usize::from(byte / 4);
        if byte % 4 == 0 {
            text.extend(open.pop());
            continue;
        }
        if !text.is_empty() && !text.ends_with(['[', '{']) {
            text.push(',');
        }
        if open.last() == Some(&'}') {
            text.extend([KEYS[which % KEYS.len()], ":"]);
        }
        match byte % 4 {
            1 => text.push_str(SCALARS[which / KEYS.len() % SCALARS.len()]),
            2 => {
                text.push('[');
                open.push(']');
            }
            _ => {
                text.push('{');
                open.push('}');
            }
        }
    }
    text.extend(open.iter().rev());
    text
}

fn compare(input: &[u8]) {
    let document = Document::parse(input, LIMITS);
    let model = serde_json::from_slice::<serde_json::Value>(input);
    let document = match (&document, &model) {
        (Ok(document), _) => document,
        (Err(error), Ok(_)) => return assert!(is_due(error, input), "{error:?}"),
        (Err(_), Err(_)) => return,
    };
    let root = document.root();
    let shape = shape_of(input).expect("what is read here is JSON");
    assert!(!shape.has_duplicates && shape.depth <= LIMITS.depth && shape.values <= LIMITS.values, "{shape:?}");
    match model {
        Ok(model) => {
            assert_same(root, &model);
            assert_eq!(serde_json::from_str::<serde_json::Value>(root.text()).expect("JSON"), model);
        }
        // Numbers stay text here; serde_json has no place for some of them.
        Err(error) => assert!(error.to_string().starts_with("number out of range"), "{error}"),
    }
}

/// Whether `input`, which serde_json reads, has what `error` says of it.
fn is_due(error: &JsonError, input: &[u8]) -> bool {
    let Ok(shape) = shape_of(input) else { return false };
    match error {
        JsonError::DuplicateKey { .. } => shape.has_duplicates,
        JsonError::TooDeep { .. } => shape.depth > LIMITS.depth,
        JsonError::TooManyValues { .. } => shape.values > LIMITS.values,
        _ => false,
    }
}

/// What was read is what serde_json read.
fn assert_same(value: Value<'_>, model: &serde_json::Value) {
    use serde_json::Value as Model;
    match (value.kind(), model) {
        (Kind::Null, Model::Null) => {}
        (Kind::Boolean, Model::Bool(model)) => assert_eq!(value.text(), model.to_string()),
        (Kind::Number, Model::Number(model)) => {
            assert_eq!(serde_json::from_str::<serde_json::Number>(value.text()).expect("a number"), *model);
        }
        (Kind::String, Model::String(model)) => assert_eq!(value.as_str().as_deref(), Some(model.as_str())),
        (Kind::Array, Model::Array(model)) => {
            assert_eq!(value.items().count(), model.len());
            value.items().zip(model).for_each(|(item, model)| assert_same(item, model));
        }
        (Kind::Object, Model::Object(model)) => {
            assert_eq!(value.members().count(), model.len());
            for (key, member) in value.members() {
                assert_same(member, &model[&*key]);
                assert_eq!(value.get(&key).map(Value::text), Some(member.text()));
            }
        }
        (kind, model) => panic!("{kind:?} for {model}"),
    }
    assert!(value.kind() == Kind::Array || value.items().next().is_none());
    assert!(value.kind() == Kind::Object || value.members().next().is_none());
}

/// What the limits are about.
#[derive(Debug, Default)]
struct Shape {
    has_duplicates: bool,
    /// Arrays and objects inside one another.
    depth: usize,
    /// Values and keys.
    values: usize,
}

fn shape_of(input: &[u8]) -> Result<Shape, serde_json::Error> {
    let mut shape = Shape::default();
    let mut reader = serde_json::Deserializer::from_slice(input);
    Walk { shape: &mut shape, depth: 0 }.deserialize(&mut reader)?;
    reader.end().map(|()| shape)
}

struct Walk<'a> {
    shape: &'a mut Shape,
    depth: usize,
}

impl Walk<'_> {
    fn inside(&mut self) -> Walk<'_> {
        let depth = self.depth + 1;
        self.shape.depth = self.shape.depth.max(depth);
        Walk { shape: self.shape, depth }
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.shape.values += 1;
        let raw = <&serde_json::value::RawValue>::deserialize(deserializer)?.get();
        let mut reader = serde_json::Deserializer::from_str(raw);
        let visited = match raw.as_bytes().first() {
            Some(b'{' | b'[') => reader.deserialize_any(self),
            _ => IgnoredAny::deserialize(&mut reader).map(drop),
        };
        visited.map_err(D::Error::custom)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        let mut inside = self.inside();
        while seq.next_element_seed(Walk { shape: inside.shape, depth: inside.depth })?.is_some() {
            inside = Walk { shape: inside.shape, depth: inside.depth };
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let inside = self.inside();
        let mut keys = BTreeSet::new();
        while let Some(key) = map.next_key::<String>()? {
            inside.shape.values += 1;
            inside.shape.has_duplicates |= !keys.insert(key);
            map.next_value_seed(Walk { shape: inside.shape, depth: inside.depth })?;
        }
        Ok(())
    }
}
