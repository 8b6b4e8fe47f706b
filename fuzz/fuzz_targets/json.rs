//! Fuzzes the JSON parser. It accepts a text if and only if serde_json accepts it and the text has no duplicate keys and is within the
//! limits on depth and values. The only exception is a number beyond the range of serde_json. Both parsers return the same value. A number
//! that is not an integer is rounded as by the standard library.
//!
//! If the first byte is odd, the rest is a plan: each byte adds a part, so that brackets match and duplicate keys occur. Otherwise the
//! rest is the text. The limits on depth and values are low, so that inputs reach both limits.
#![no_main]

use std::collections::BTreeSet;
use std::fmt;

use edge_json::number::Number;
use edge_json::{Document, JsonError, JsonLimits, Kind, Value};
use libfuzzer_sys::fuzz_target;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

const LIMITS: JsonLimits = JsonLimits { depth: 8, values: 64 };

/// Keys. Some of them are equal after their escapes are decoded.
const KEYS: [&str; 8] =
    ["\"a\"", "\"\\u0061\"", "\"b\"", "\"\"", "\"aa\"", "\"\\ud83d\\ude00\"", "\"😀\"", "\"\\ud800\""];
#[rustfmt::skip]
const SCALARS: [&str; 16] = [
    "0", "-0", "1.5", "1e400", "18446744073709551616", "01", "true", "false", "null", "\"\"", "\"\\n\"", "\"\\u0000\"",
    "\"\\ud83d\\ude00\"", "\"\\ud83d\"", "\"\n\"", " \"é\" ",
];

fuzz_target!(|input: &[u8]| {
    let Some((first, rest)) = input.split_first() else { return };
    if first % 2 == 0 { compare(rest) } else { compare(text_of(rest).as_bytes()) }
});

/// Returns the JSON text that `plan` describes.
fn text_of(plan: &[u8]) -> String {
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
        (Err(error), Ok(_)) => return assert!(is_justified(error, input), "{error:?}"),
        (Err(_), Err(_)) => return,
    };
    let root = document.root();
    let shape = shape_of(input).expect("an accepted text is JSON");
    assert!(!shape.has_duplicates && shape.depth <= LIMITS.depth && shape.values <= LIMITS.values, "{shape:?}");
    match model {
        Ok(model) => {
            assert_same(root, &model);
            assert_eq!(serde_json::from_str::<serde_json::Value>(root.text()).expect("JSON"), model);
        }
        // `Document` keeps numbers as text. serde_json rejects numbers that are out of its range.
        Err(error) => assert!(error.to_string().starts_with("number out of range"), "{error}"),
    }
}

/// Returns whether `input`, which serde_json accepts, has the property that `error` reports.
fn is_justified(error: &JsonError, input: &[u8]) -> bool {
    let Ok(shape) = shape_of(input) else { return false };
    match error {
        JsonError::DuplicateKey { .. } => shape.has_duplicates,
        JsonError::TooDeep { .. } => shape.depth > LIMITS.depth,
        JsonError::TooManyValues { .. } => shape.values > LIMITS.values,
        _ => false,
    }
}

/// Asserts that `value` equals the value that serde_json parsed.
fn assert_same(value: Value<'_>, model: &serde_json::Value) {
    use serde_json::Value as Model;
    match (value.kind(), model) {
        (Kind::Null, Model::Null) => {}
        (Kind::Boolean, Model::Bool(model)) => assert_eq!(value.text(), model.to_string()),
        (Kind::Number, Model::Number(model)) => {
            assert_eq!(serde_json::from_str::<serde_json::Number>(value.text()).expect("a number"), *model);
            if let Some(Number::Float(float)) = Number::of(value.text()) {
                assert_eq!(Ok(float), value.text().parse());
            }
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

/// The properties of a text that the limits restrict.
#[derive(Debug, Default)]
struct Shape {
    has_duplicates: bool,
    /// The depth of nested arrays and objects.
    depth: usize,
    /// The number of values and keys.
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
