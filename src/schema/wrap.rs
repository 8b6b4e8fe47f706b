//! Output schemas for clients that support only objects.
//!
//! Up to 2025-11-25 structured content must be an object. A client rejects the whole list of tools if one output schema is for another
//! type. For these revisions other values are wrapped: they become the member `result` of an object.

use edge_json::{object, write};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Schema;

impl Schema {
    /// Returns the schema of the wrapped value, or this schema if it is for objects.
    pub(crate) fn json_of_object(&self) -> &RawValue {
        if self.is_of_objects() {
            return self.json();
        }
        self.wrapped.get_or_init(|| {
            let mut result = self.value().clone();
            // References are relative to the root of the document, which is now the wrapper.
            let definitions = result.as_object_mut().and_then(|schema| schema.remove("$defs"));
            let properties = object(vec![("result", result)]);
            let required = vec!["result"].into();
            let mut wrapped =
                object(vec![("type", "object".into()), ("properties", properties), ("required", required)]);
            point_at_result(&mut wrapped);
            if let (Some(definitions), Some(schema)) = (definitions, wrapped.as_object_mut()) {
                schema.insert("$defs".into(), definitions);
            }
            // Serializing a JSON value does not fail.
            write::to_raw_value(&wrapped).unwrap_or_else(|_| self.json().to_owned())
        })
    }
}

/// Updates references to the old root and its subschemas. `$defs` stays at the root.
fn point_at_result(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            for (keyword, value) in object.iter_mut() {
                match (keyword.as_str(), value) {
                    ("$ref", Value::String(reference)) => {
                        if let Some(pointer) = reference.strip_prefix('#')
                            && (pointer.is_empty() || pointer.starts_with('/'))
                            && !pointer.starts_with("/$defs/")
                        {
                            *reference = format!("#/properties/result{pointer}");
                        }
                    }
                    // The values of these keywords are data, not schemas.
                    ("const" | "enum" | "default" | "examples", _) => {}
                    (_, value) => point_at_result(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(point_at_result),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde_json::json;

    use super::*;
    use edge_json::{Document, JsonLimits};

    #[derive(JsonSchema)]
    #[allow(dead_code)]
    enum Tree {
        Leaf(u8),
        Node(Vec<Tree>),
    }

    #[test]
    fn values_that_are_not_objects_are_wrapped() {
        let wrapped = |schema: &Schema| serde_json::from_str::<Value>(schema.json_of_object().get()).expect("JSON");
        let list = Schema::of::<Vec<bool>>().expect("a schema");
        let expected = json!({
            "type": "object",
            "properties": { "result": { "type": "array", "items": { "type": "boolean" } } },
            "required": ["result"],
        });
        assert_eq!(wrapped(&list), expected);
        // A recursive type still refers to itself.
        let tree = Schema::of::<Tree>().expect("a schema");
        let recompiled = Schema::of_value(&wrapped(&tree)).expect("valid references");
        let text = r#"{"result":{"Node":[{"Leaf":1},{"Node":[]}]}}"#;
        let check = |text: &str| {
            let document = Document::parse(text.as_bytes(), JsonLimits::default()).expect("JSON");
            recompiled.validate_within(document.root(), &super::super::CheckSteps::default())
        };
        assert_eq!(check(text), Vec::<String>::new());
        assert!(!check(r#"{"result":{"Node":[{"Leaf":1},{"Node":[7]}]}}"#).is_empty());
    }
}
