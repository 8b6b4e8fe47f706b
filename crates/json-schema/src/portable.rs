//! The form of a schema that client libraries read, with the same meaning.
//!
//! Some libraries convert schemas to types of their language, and fail for valid schemas. Then their users have no tool of the server. So this
//! module rewrites what these libraries do not read. `docs/compatibility.md` has the libraries, and how they convert each form.

use serde_json::{Map, Value};

use super::references::{BY_NAME, LISTS, SCHEMA};
use crate::limits::INLINED_SCHEMAS;

/// The keywords that apply only to values of some types: the types and the keywords.
const BY_TYPE: [(&[&str], &[&str]); 4] = [
    (&["string"], &["minLength", "maxLength", "pattern", "format"]),
    (&["integer", "number"], &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
    (
        &["array"],
        &[
            "items",
            "prefixItems",
            "additionalItems",
            "contains",
            "minContains",
            "maxContains",
            "minItems",
            "maxItems",
            "uniqueItems",
        ],
    ),
    (
        &["object"],
        &[
            "properties",
            "patternProperties",
            "additionalProperties",
            "propertyNames",
            "required",
            "minProperties",
            "maxProperties",
            "dependentRequired",
            "dependentSchemas",
            "dependencies",
        ],
    ),
];

/// Keywords that give a schema a name of its own, or that refer to one. A schema with one of them is not rewritten.
const NAMES: [&str; 5] = ["$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef"];

/// Keywords that do not restrict values.
const ANNOTATIONS: [&str; 5] = ["title", "description", "default", "examples", "deprecated"];

const DEFINITIONS: &str = "#/$defs/";

/// Rewrites a schema to the form that client libraries read:
///
/// - A list of types becomes `anyOf`, with one type and its keywords in each alternative. A schema that has an `anyOf` already keeps the list.
/// - The schema `true` of a property, an item, a definition or an alternative becomes `{}`.
/// - The root has `properties`, if its type is `object`. Nested objects do not get it: a library would drop the members of a map.
/// - A definition does not refer to other definitions, except where it refers to itself, or if the schema would become too large.
///
/// Schemas with identifiers, and with references to other places than definitions, are only changed at the root.
pub fn portable(mut schema: Value) -> Value {
    if has_only_definitions(&schema) {
        if schema.is_object() {
            split_types(&mut schema);
        }
        write_in_place(&mut schema);
    }
    add_properties(&mut schema);
    schema
}

/// Adds `properties` to a root whose type is `object`.
pub(super) fn add_properties(schema: &mut Value) {
    let Value::Object(root) = schema else { return };
    if root.get("type").is_some_and(|kind| kind == "object") {
        root.entry("properties").or_insert_with(|| Map::new().into());
    }
}

/// Calls `visit` with the schemas directly in a schema, except booleans after keywords such as `additionalProperties`.
fn each_part(schema: &mut Map<String, Value>, visit: &mut dyn FnMut(&mut Value)) {
    for (keyword, value) in schema {
        match value {
            Value::Bool(_) if keyword != "items" => {}
            Value::Array(parts) if LISTS.contains(&keyword.as_str()) => parts.iter_mut().for_each(&mut *visit),
            Value::Object(parts) if BY_NAME.contains(&keyword.as_str()) => parts.values_mut().for_each(&mut *visit),
            value if SCHEMA.contains(&keyword.as_str()) => visit(value),
            _ => {}
        }
    }
}

/// Replaces each list of types in a schema, and each schema `true`.
fn split_types(schema: &mut Value) {
    if *schema == Value::Bool(true) {
        *schema = Map::new().into();
    }
    let Value::Object(object) = schema else { return };
    each_part(object, &mut split_types);
    if object.contains_key("anyOf") {
        return;
    }
    if let Some(Value::Array(types)) = object.get("type") {
        let types = types.clone();
        *object = split(std::mem::take(object), &types);
    }
}

/// Returns a schema with one of `types` in each alternative.
fn split(schema: Map<String, Value>, types: &[Value]) -> Map<String, Value> {
    if let [only] = types {
        let with_type = |(keyword, value)| if keyword == "type" { (keyword, only.clone()) } else { (keyword, value) };
        return schema.into_iter().map(with_type).collect();
    }
    let alternatives: Vec<Value> = types.iter().filter_map(|kind| alternative(&schema, kind)).collect();
    if alternatives.is_empty() {
        return schema;
    }
    let mut split = Map::new();
    for (keyword, value) in schema {
        match keyword.as_str() {
            "type" => drop(split.insert("anyOf".into(), alternatives.clone().into())),
            "enum" => {}
            keyword if types_of(keyword).is_some() => {}
            _ => drop(split.insert(keyword, value)),
        }
    }
    split
}

/// Returns the types to whose values a keyword applies, or `None` for a keyword that applies to all values.
fn types_of(keyword: &str) -> Option<&'static [&'static str]> {
    BY_TYPE.iter().find(|(_, keywords)| keywords.contains(&keyword)).map(|(types, _)| *types)
}

/// Returns the part of a schema for the values of one type. Returns `None` if the schema allows none of them.
fn alternative(schema: &Map<String, Value>, kind: &Value) -> Option<Value> {
    let name = kind.as_str().unwrap_or_default();
    let mut part = Map::from_iter([("type".to_owned(), kind.clone())]);
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let values: Vec<_> = values.iter().filter(|value| is_a(value, name)).cloned().collect();
        if values.is_empty() {
            return None;
        }
        if name != "null" {
            part.insert("enum".into(), values.into());
        }
    }
    let own = schema.iter().filter(|(keyword, _)| types_of(keyword).is_some_and(|types| types.contains(&name)));
    part.extend(own.map(|(keyword, value)| (keyword.clone(), value.clone())));
    Some(part.into())
}

/// Returns whether a value may have a type. An integer is a number, too, and `7.0` is an integer.
fn is_a(value: &Value, kind: &str) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::Number(_) => matches!(kind, "number" | "integer"),
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
    }
}

/// Returns whether all references in a value are to definitions, and no part has an identifier. A property that is named like such a keyword
/// counts as the keyword.
fn has_only_definitions(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(has_only_definitions),
        Value::Object(members) => members.iter().all(|(keyword, value)| {
            let is_definition = || value.as_str().is_some_and(|target| definition(target).is_some());
            !NAMES.contains(&keyword.as_str()) && (keyword != "$ref" || is_definition()) && has_only_definitions(value)
        }),
        _ => true,
    }
}

/// Returns the name of the definition to which a reference leads.
fn definition(reference: &str) -> Option<&str> {
    reference.strip_prefix(DEFINITIONS).filter(|name| !name.contains(['/', '~', '%']))
}

/// Writes definitions in place of the references to them in other definitions, and removes those that are not used any more.
fn write_in_place(schema: &mut Value) {
    let Some(Value::Object(definitions)) = schema.get("$defs") else { return };
    let (mut written, mut room) = (definitions.clone(), INLINED_SCHEMAS);
    for (name, part) in &mut written {
        let path = definitions.get_key_value(name).map(|(name, _)| name.as_str());
        if !expand(part, definitions, &mut Vec::from_iter(path), &mut room) {
            return;
        }
    }
    if let Some(root) = schema.as_object_mut() {
        root.shift_remove("$defs");
    }
    let mut used = references(schema);
    for (name, part) in &written {
        used.extend(references(part).into_iter().filter(|used| used != name));
    }
    written.retain(|name, _| used.contains(name));
    if let Some(root) = schema.as_object_mut().filter(|_| !written.is_empty()) {
        root.insert("$defs".into(), written.into());
    }
}

/// Replaces the references in a schema of a definition by the definitions. `path` has the definitions around it. Returns `false` if `room`,
/// the number of further schemas, is used up.
fn expand<'s>(
    schema: &mut Value,
    definitions: &'s Map<String, Value>,
    path: &mut Vec<&'s str>,
    room: &mut usize,
) -> bool {
    let Some(left) = room.checked_sub(1) else { return false };
    *room = left;
    let Value::Object(object) = schema else { return true };
    let levels = path.len();
    // The target may be a reference itself.
    while let Some((name, target)) = target(object, definitions).filter(|(name, _)| !path.contains(name)) {
        object.remove("$ref");
        let own = std::mem::replace(object, target.clone());
        object.extend(own);
        path.push(name);
    }
    let mut has_room = true;
    each_part(object, &mut |part| has_room = has_room && expand(part, definitions, path, room));
    path.truncate(levels);
    has_room
}

/// Returns the name and the schema of the definition to which a schema refers, if it only adds annotations.
fn target<'s>(
    schema: &Map<String, Value>,
    definitions: &'s Map<String, Value>,
) -> Option<(&'s str, &'s Map<String, Value>)> {
    let (name, target) = definitions.get_key_value(definition(schema.get("$ref")?.as_str()?)?)?;
    let only_adds = schema.keys().all(|keyword| keyword == "$ref" || ANNOTATIONS.contains(&keyword.as_str()));
    Some((name.as_str(), target.as_object().filter(|_| only_adds)?))
}

/// Returns the names of the definitions to which a value refers.
fn references(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(references).collect(),
        Value::Object(members) => {
            let own = members.get("$ref").and_then(Value::as_str).and_then(definition).map(str::to_owned);
            own.into_iter().chain(members.values().flat_map(references)).collect()
        }
        _ => Vec::new(),
    }
}
