//! The roots of the schemas of tools, as strict clients require them.
//!
//! The official clients reject a whole list because of one tool whose input schema has no `type`, or whose `properties` are not objects. So the
//! tools of one server could break the list of a gateway.

use edge_json::write::ObjectWriter;
use edge_json::{Kind, Value};
use serde_json::value::RawValue;

/// Returns whether strict clients accept the schema: its `type` is `object`, each property is an object, and `required` is a list of names.
pub(super) fn has_strict_root(schema: Value<'_>) -> bool {
    let is_of_objects = |properties: Value<'_>| {
        properties.kind() == Kind::Object && properties.members().all(|(_, property)| property.kind() == Kind::Object)
    };
    schema.get("type").is_some_and(|kind| kind.is_str("object"))
        && schema.get("properties").is_none_or(is_of_objects)
        && schema.get("required").is_none_or(is_list_of_names)
}

/// Returns a schema with the same meaning that strict clients accept, or `None` if there is none.
pub(super) fn with_strict_root(schema: Value<'_>) -> Option<Box<RawValue>> {
    if schema.kind() != Kind::Object {
        return None;
    }
    let mut strict = ObjectWriter::new().text("type", "object");
    for (name, value) in schema.members() {
        strict = match &*name {
            // Null means that the member is absent.
            "type" | "properties" | "required" if value.kind() == Kind::Null => strict,
            "type" if value.is_str("object") => strict,
            "properties" => strict.json(&name, &strict_properties(value)?),
            "required" if is_list_of_names(value) => strict.json(&name, value.text()),
            "type" | "required" => return None,
            _ => strict.json(&name, value.text()),
        };
    }
    Some(strict.finish_raw())
}

/// Returns the properties with objects instead of the schemas `true` and `false`.
fn strict_properties(properties: Value<'_>) -> Option<String> {
    if properties.kind() != Kind::Object {
        return None;
    }
    let mut strict = ObjectWriter::new();
    for (name, property) in properties.members() {
        strict = strict.json(
            &name,
            match (property.kind(), property.text()) {
                (Kind::Object, text) => text,
                (_, "true") => "{}",
                (_, "false") => r#"{"not":{}}"#,
                _ => return None,
            },
        );
    }
    Some(strict.finish())
}

fn is_list_of_names(required: Value<'_>) -> bool {
    required.kind() == Kind::Array && required.items().all(|name| name.kind() == Kind::String)
}
