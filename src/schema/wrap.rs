//! Schemas for clients that know only objects.
//!
//! Up to 2025-11-25 structured content is an object, and a client drops the whole list of tools over one output schema
//! that is not of objects. What is none is sent there as the member `result` of one.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Schema;

impl Schema {
    /// The schema of objects that hold such a value as `result`; this schema itself, if it is of objects.
    pub(crate) fn json_of_object(&self) -> &RawValue {
        if self.is_of_objects() {
            return &self.json;
        }
        self.wrapped.get_or_init(|| {
            let mut result = self.value.clone();
            // References count from the root of the whole document, which is now another.
            let definitions = result.as_object_mut().and_then(|schema| schema.remove("$defs"));
            let mut wrapped = json!({ "type": "object", "properties": { "result": result }, "required": ["result"] });
            point_at_result(&mut wrapped);
            if let (Some(definitions), Some(schema)) = (definitions, wrapped.as_object_mut()) {
                schema.insert("$defs".into(), definitions);
            }
            // A JSON value cannot fail to be JSON.
            serde_json::value::to_raw_value(&wrapped).unwrap_or_else(|_| self.json.clone())
        })
    }
}

/// Turns references to the old root, and to what was in it, into references to where it is now. Definitions stay at the root.
fn point_at_result(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            for (keyword, value) in object.iter_mut() {
                match (keyword.as_str(), value) {
                    ("$ref", Value::String(reference)) => {
                        if let Some(place) = reference.strip_prefix('#')
                            && (place.is_empty() || place.starts_with('/'))
                            && !place.starts_with("/$defs/")
                        {
                            *reference = format!("#/properties/result{place}");
                        }
                    }
                    // What these hold is data, not schemas.
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

    use super::*;
    use crate::json::{Document, JsonLimits};

    #[derive(JsonSchema)]
    #[allow(dead_code)]
    enum Tree {
        Leaf(u8),
        Node(Vec<Tree>),
    }

    #[test]
    fn what_is_no_object_becomes_a_member_of_one() {
        let wrapped = |schema: &Schema| serde_json::from_str::<Value>(schema.json_of_object().get()).expect("JSON");
        let list = Schema::of::<Vec<bool>>().expect("a schema");
        let expected = json!({
            "type": "object",
            "properties": { "result": { "type": "array", "items": { "type": "boolean" } } },
            "required": ["result"],
        });
        assert_eq!(wrapped(&list), expected);
        // A type that contains itself refers to its root, and still does.
        let tree = Schema::of::<Tree>().expect("a schema");
        let recompiled = Schema::compile(wrapped(&tree)).expect("its references lead somewhere");
        let text = r#"{"result":{"Node":[{"Leaf":1},{"Node":[]}]}}"#;
        let check = |text: &str| {
            let document = Document::parse(text.as_bytes(), JsonLimits::default()).expect("JSON");
            recompiled.validate(document.root())
        };
        assert_eq!(check(text), Vec::<String>::new());
        assert!(!check(r#"{"result":{"Node":[{"Leaf":1},{"Node":[7]}]}}"#).is_empty());
    }
}
