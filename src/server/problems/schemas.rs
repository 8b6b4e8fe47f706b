//! The rules about input schemas. A client library or a model cannot use a schema that violates one: the library fails, so its users have no
//! tool of the server, or it tells the model a type that the schema rejects.

use serde_json::{Map, Value};

/// A schema in an input schema.
pub(super) struct Position<'s> {
    root: &'s Value,
    schema: &'s Value,
    /// The JSON Pointer of the schema. Empty for the root.
    pointer: String,
    /// The keyword that has the schema. Empty for the root.
    keyword: &'static str,
}

/// The keywords whose values are schemas by name, lists of schemas, and schemas.
const BY_NAME: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];
const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
const SINGLE: [&str; 7] = ["items", "additionalProperties", "contains", "not", "if", "then", "else"];

/// The keywords of a root that libraries and models do not read.
const ROOT: [&str; 8] = ["anyOf", "oneOf", "allOf", "$ref", "not", "if", "dependentRequired", "dependentSchemas"];

/// The formats that the API of Gemini accepts, for strings and for numbers.
const FORMATS: [&str; 6] = ["date-time", "enum", "int32", "int64", "float", "double"];

/// The levels of objects and arrays at which the OpenAI Agents SDK stops.
const DEPTH: usize = 100;

const DEFINITIONS: &str = "#/$defs/";

pub(super) fn positions(root: &Value) -> Vec<Position<'_>> {
    positions_in(root, root)
}

fn positions_in<'s>(root: &'s Value, schema: &'s Value) -> Vec<Position<'s>> {
    let mut found = vec![Position { root, schema, pointer: String::new(), keyword: "" }];
    let mut next = 0;
    while let Some(parts) = found.get(next).map(Position::parts) {
        found.extend(parts);
        next = next.saturating_add(1);
    }
    found
}

impl<'s> Position<'s> {
    /// Returns the place, as the subject of a sentence.
    pub(super) fn shown(&self) -> String {
        if self.pointer.is_empty() { "the root".into() } else { format!("`{}`", self.pointer) }
    }

    fn get(&self, keyword: &str) -> Option<&'s Value> {
        self.schema.get(keyword)
    }

    fn has(&self, keyword: &str) -> bool {
        self.get(keyword).is_some()
    }

    fn object(&self, keyword: &str) -> impl Iterator<Item = (&'s String, &'s Value)> + use<'s> {
        self.get(keyword).and_then(Value::as_object).into_iter().flatten()
    }

    /// Returns the schemas directly in this one.
    fn parts(&self) -> Vec<Self> {
        let part = |keyword: &'static str, key: Option<String>, schema: &'s Value| {
            let key = key.map_or_else(String::new, |key| format!("/{key}"));
            Position { root: self.root, schema, pointer: format!("{}/{keyword}{key}", self.pointer), keyword }
        };
        let mut parts = Vec::new();
        for keyword in BY_NAME {
            parts.extend(self.object(keyword).map(|(name, schema)| part(keyword, Some(name.clone()), schema)));
        }
        for keyword in LISTS {
            let items = self.get(keyword).and_then(Value::as_array).into_iter().flatten();
            parts.extend(items.enumerate().map(|(nth, schema)| part(keyword, Some(nth.to_string()), schema)));
        }
        parts.extend(SINGLE.into_iter().filter_map(|keyword| Some(part(keyword, None, self.get(keyword)?))));
        parts
    }

    fn is_root(&self) -> bool {
        self.keyword.is_empty()
    }

    /// Returns whether LlamaIndex makes a Python type of the schema.
    fn is_converted(&self) -> bool {
        matches!(self.keyword, "properties" | "items" | "anyOf" | "additionalProperties")
    }
}

pub(super) fn python_name(at: &Position<'_>) -> Option<String> {
    if !at.is_root() && at.keyword != "$defs" {
        return None;
    }
    let is_reserved = |name: &str| {
        name.starts_with('_')
            || name.starts_with("model_dump")
            || name.starts_with("model_validate")
            || name == "model_config"
    };
    let (name, _) = at.object("properties").find(|(name, _)| is_reserved(name))?;
    Some(format!("has the property `{name}`, which Pydantic does not accept: rename it"))
}

pub(super) fn root(at: &Position<'_>) -> Option<String> {
    let keyword = ROOT.into_iter().find(|keyword| at.is_root() && at.has(keyword))?;
    Some(format!("has `{keyword}`: move all arguments to `properties`, as a struct without `#[serde(flatten)]`"))
}

pub(super) fn free_arguments(at: &Position<'_>) -> Option<String> {
    let is_open = at.get("additionalProperties").is_some_and(|other| *other != Value::Bool(false));
    (at.is_root() && (is_open || at.has("patternProperties")))
        .then(|| "allows arguments that are not in `properties`: put them into one argument, which is a map".into())
}

pub(super) fn required(at: &Position<'_>) -> Option<String> {
    let names = at.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let name =
        names.into_iter().find(|name| at.is_root() && !at.object("properties").any(|(known, _)| known == name))?;
    Some(format!("requires `{name}`, which `properties` does not have: add it"))
}

pub(super) fn reference(at: &Position<'_>) -> Option<String> {
    let reference = at.get("$ref").and_then(Value::as_str)?;
    let is_name = |name: &str| !name.contains(['/', '~', '%']);
    let is_understood = reference.strip_prefix(DEFINITIONS).is_some_and(is_name);
    (!is_understood)
        .then(|| format!("refers to `{reference}`: move the target to `$defs`, with a name without `/`, `~` and `%`"))
}

pub(super) fn recursion(at: &Position<'_>) -> Option<String> {
    let name = at.pointer.strip_prefix("/$defs/").filter(|name| !name.contains('/'))?;
    let mut reached = references(at.root, at.schema);
    let mut next = 0;
    while let Some(found) = reached.get(next) {
        if *found == name {
            return Some("refers to itself: end the recursion at a fixed depth, or at a part without a schema".into());
        }
        let further = definition(at.root, found).map_or_else(Vec::new, |target| references(at.root, target));
        let new: Vec<_> = further.into_iter().filter(|name| !reached.contains(name)).collect();
        reached.extend(new);
        next = next.saturating_add(1);
    }
    None
}

pub(super) fn referenced_type(at: &Position<'_>) -> Option<String> {
    let name = at.get("$ref").and_then(Value::as_str)?.strip_prefix(DEFINITIONS)?;
    let target = definition(at.root, name)?.as_object()?;
    let is_array = target.get("type").is_some_and(|kind| kind == "array") && target.contains_key("items");
    let is_understood = is_array || target.contains_key("anyOf") || accepts(at.root, target, "object");
    (at.is_converted() && !is_understood).then(|| {
        format!("refers to `{name}`, which is not an object: write the schema in place of the `$ref`, or use `anyOf`")
    })
}

pub(super) fn boolean(at: &Position<'_>) -> Option<String> {
    let must_be_object = matches!(at.keyword, "properties" | "items" | "anyOf" | "$defs");
    (must_be_object && at.schema.is_boolean()).then(|| {
        format!("is `{}`: use an object schema, such as `{{\"type\": \"string\"}}`, or `{{}}` for any value", at.schema)
    })
}

pub(super) fn untyped(at: &Position<'_>) -> Option<String> {
    let is_typed = ["type", "enum", "$ref"].into_iter().any(|keyword| at.has(keyword))
        || (at.has("anyOf") && at.keyword != "anyOf");
    let schema = at.schema.as_object()?;
    let is_misread = at.is_converted() && !is_typed && !accepts(at.root, schema, "string");
    is_misread.then(|| "has no `type`, so the model is told to send a string: add `type`, or use one `anyOf`".into())
}

pub(super) fn type_list(at: &Position<'_>) -> Option<String> {
    let is_list = at.get("type").is_some_and(Value::is_array);
    is_list.then(|| "has a list of types, which stays because of an `anyOf`, an identifier or a reference: write one type into each alternative of the `anyOf`".into())
}

pub(super) fn argument_type(at: &Position<'_>) -> Option<String> {
    let is_typed = ["type", "anyOf", "oneOf", "allOf", "enum", "$ref"].into_iter().any(|keyword| at.has(keyword));
    // The properties of a condition are no arguments.
    let is_argument =
        at.keyword == "properties" && (at.pointer.starts_with("/properties") || at.pointer.starts_with("/$defs"));
    let is_untyped = is_argument && at.schema.is_object() && !is_typed;
    is_untyped.then(|| "has no `type`: add it, or an `anyOf` with one type in each alternative".into())
}

pub(super) fn array_items(at: &Position<'_>) -> Option<String> {
    let is_array = at.get("type").is_some_and(|kind| kind == "array");
    (is_array && !at.has("items") && !at.has("prefixItems"))
        .then(|| "is an array without `items`: add the schema of an item, such as `{\"type\": \"string\"}`".into())
}

pub(super) fn format(at: &Position<'_>) -> Option<String> {
    let format = at.get("format").and_then(Value::as_str).filter(|format| !FORMATS.contains(format))?;
    Some(format!("has the format `{format}`: remove it, and describe the format in the `description`"))
}

pub(super) fn enum_strings(at: &Position<'_>) -> Option<String> {
    let values = at.get("enum").and_then(Value::as_array)?;
    let value = values.iter().find(|value| !value.is_string())?;
    Some(format!(
        "has an `enum` with {value}, which is not a string: use strings, or `minimum` and `maximum` for numbers"
    ))
}

pub(super) fn dialect(at: &Position<'_>) -> Option<String> {
    at.has("$schema").then(|| "has `$schema`: remove it, after you have replaced the keywords of older dialects".into())
}

pub(super) fn empty_enum(at: &Position<'_>) -> Option<String> {
    let is_empty = at.get("enum").and_then(Value::as_array).is_some_and(Vec::is_empty);
    (at.is_converted() && is_empty).then(|| "has an `enum` without values: add a value, or remove the property".into())
}

pub(super) fn depth(at: &Position<'_>) -> Option<String> {
    let levels = if at.is_root() { levels(at.schema) } else { 0 };
    (levels > DEPTH).then(|| format!("has {levels} levels of objects and arrays: flatten it to {DEPTH}"))
}

fn levels(value: &Value) -> usize {
    let deepest = match value {
        Value::Array(items) => items.iter().map(levels).max(),
        Value::Object(members) => members.values().map(levels).max(),
        _ => return 0,
    };
    deepest.unwrap_or_default().saturating_add(1)
}

fn definition<'s>(root: &'s Value, name: &str) -> Option<&'s Value> {
    root.get("$defs")?.get(name)
}

/// Returns the names of the definitions to which a schema refers.
fn references<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s str> {
    let parts = positions_in(root, schema);
    parts.iter().filter_map(|at| at.get("$ref")?.as_str()?.strip_prefix(DEFINITIONS)).collect()
}

/// Returns whether a schema may accept a value of a type. It may say yes for a schema that rejects all of them.
fn accepts(root: &Value, schema: &Map<String, Value>, kind: &str) -> bool {
    accepts_within(root, schema, kind, DEPTH)
}

fn accepts_within(root: &Value, schema: &Map<String, Value>, kind: &str, levels: usize) -> bool {
    let Some(levels) = levels.checked_sub(1) else { return true };
    let part = |part: &Value| match part {
        Value::Bool(accepts) => *accepts,
        Value::Object(part) => accepts_within(root, part, kind, levels),
        _ => true,
    };
    let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
    let is_of_kind = |value: &Value| match value {
        Value::String(_) => kind == "string",
        Value::Object(_) => kind == "object",
        _ => false,
    };
    let has_type = match schema.get("type") {
        Some(Value::String(only)) => only == kind,
        Some(Value::Array(types)) => types.iter().any(|known| known == kind),
        _ => true,
    };
    let target =
        schema.get("$ref").and_then(|reference| definition(root, reference.as_str()?.strip_prefix(DEFINITIONS)?));
    has_type
        && schema.get("const").is_none_or(is_of_kind)
        && list("enum").is_none_or(|values| values.iter().any(is_of_kind))
        && target.is_none_or(part)
        && ["anyOf", "oneOf"].into_iter().all(|keyword| list(keyword).is_none_or(|parts| parts.iter().any(part)))
        && list("allOf").is_none_or(|parts| parts.iter().all(part))
}
