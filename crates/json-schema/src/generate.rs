//! The schema of a Rust type.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

use super::portable;

/// Returns the schema of `T` from schemars in the form that [`portable`](crate::portable()) describes, without Rust's number formats.
///
/// It is generated as a subschema. A root schema of schemars also has the name of the Rust type as `title`, and the dialect as `$schema`.
/// Objects are closed.
pub fn from_type<T: JsonSchema>() -> Value {
    generated(SchemaGenerator::subschema_for::<T>)
}

/// This function does not depend on the type, so a wasm module contains it only once.
fn generated(subschema: fn(&mut SchemaGenerator) -> Schema) -> Value {
    let mut generator =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true).into_generator();
    let mut schema = subschema(&mut generator);
    let definitions = generator.take_definitions(false);
    if !definitions.is_empty() {
        schema.insert("$defs".into(), definitions.into());
    }
    let rewrite = |schema: &mut Schema| {
        replace_number_format(schema);
        split_null(schema);
    };
    RecursiveTransform(rewrite).transform(&mut schema);
    let mut schema = schema.to_value();
    close_objects(&mut schema);
    portable::add_properties(&mut schema);
    schema
}

/// Removes number formats such as `int32`: clients warn about unknown formats. If a format implies a range, the range is published
/// instead.
fn replace_number_format(schema: &mut Schema) {
    const RANGES: [(&str, Option<(i64, i64)>); 14] = [
        ("int8", Some((i8::MIN as i64, i8::MAX as i64))),
        ("int16", Some((i16::MIN as i64, i16::MAX as i64))),
        ("int32", Some((i32::MIN as i64, i32::MAX as i64))),
        ("uint8", Some((0, u8::MAX as i64))),
        ("uint16", Some((0, u16::MAX as i64))),
        ("uint32", Some((0, u32::MAX as i64))),
        ("int64", None),
        ("uint64", None),
        ("int", None),
        ("uint", None),
        ("int128", None),
        ("uint128", None),
        ("float", None),
        ("double", None),
    ];
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let Some((_, range)) = RANGES.iter().find(|(name, _)| *name == format) else { return };
    schema.remove("format");
    if let Some((minimum, maximum)) = range {
        let object = schema.ensure_object();
        object.entry("minimum").or_insert_with(|| (*minimum).into());
        object.entry("maximum").or_insert_with(|| (*maximum).into());
    }
}

/// Writes the schema of an `Option` as `anyOf`: schemars adds `null` to the list of its types, and some client libraries do not read a list.
fn split_null(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    let Some(Value::Array(types)) = object.get_mut("type") else { return };
    let [kind, Value::String(null)] = types.as_mut_slice() else { return };
    if null != "null" {
        return;
    }
    let kind = kind.take();
    let mut inner = Map::new();
    for (keyword, mut value) in std::mem::take(object) {
        match keyword.as_str() {
            "type" => drop(inner.insert(keyword, kind.clone())),
            "title" | "description" | "default" => drop(object.insert(keyword, value)),
            _ => {
                if let (Value::Array(values), "enum") = (&mut value, keyword.as_str()) {
                    values.retain(|value| !value.is_null());
                }
                inner.insert(keyword, value);
            }
        }
    }
    let mut null = Map::new();
    null.insert("type".into(), "null".into());
    object.insert("anyOf".into(), vec![Value::Object(inner), Value::Object(null)].into());
}

/// Sets `additionalProperties` to `false` for objects without this keyword, and replaces schemas `true` by `{}`: some client libraries do not read
/// booleans.
///
/// If several schemas apply to the same object, each of them would reject the properties of the others, so these schemas stay open.
fn close_objects(schema: &mut Value) {
    const COMBINED: [&str; 6] = ["allOf", "anyOf", "oneOf", "$ref", "if", "not"];
    if *schema == Value::Bool(true) {
        *schema = Map::new().into();
        return;
    }
    let Value::Object(object) = schema else { return };
    let combined = COMBINED.iter().any(|keyword| object.contains_key(*keyword));
    let has_properties = object.contains_key("properties");
    let is_object = object.get("type").and_then(Value::as_str) == Some("object");
    if is_object && !combined && !object.contains_key("additionalProperties") {
        object.insert("additionalProperties".into(), false.into());
    }
    for (keyword, value) in object.iter_mut() {
        match keyword.as_str() {
            "properties" | "$defs" | "patternProperties" => {
                if let Value::Object(parts) = value {
                    parts.values_mut().for_each(close_objects);
                }
            }
            "items" => close_objects(value),
            "additionalProperties" if value.is_object() => close_objects(value),
            "anyOf" | "oneOf" | "prefixItems" if !has_properties => {
                if let Value::Array(parts) = value {
                    parts.iter_mut().for_each(close_objects);
                }
            }
            _ => {}
        }
    }
}
