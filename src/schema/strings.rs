//! Prompt arguments. They are strings on the wire, and are converted to numbers and booleans where the schema requires it.

use std::borrow::Cow;

use edge_json::number::Number;
use serde_json::{Map, Value};

use super::{SCALARS, Schema};
use crate::protocol::description::PromptArgument;

impl Schema {
    /// Returns the properties as prompt arguments.
    pub(crate) fn as_arguments(&self) -> Vec<PromptArgument> {
        let mut arguments = Vec::new();
        let Some(properties) = self.properties() else { return arguments };
        let required = self.value().get("required").and_then(Value::as_array);
        for (name, property) in properties {
            let mut argument = PromptArgument::new(name.clone());
            if let Some(description) = property.get("description").and_then(Value::as_str) {
                argument = argument.description(description.to_owned());
            }
            if required.is_some_and(|required| required.iter().any(|known| known == name)) {
                argument = argument.required();
            }
            arguments.push(argument);
        }
        arguments
    }

    /// Returns the first property that a string cannot represent.
    pub(crate) fn non_scalar_property(&self) -> Option<&str> {
        let is_non_scalar = |property: &Value| {
            let types = types(property);
            // A property without types is a combination of schemas, such as an enum with documented variants.
            !types.is_empty() && types.iter().all(|kind| SCALARS.iter().all(|scalar| kind != scalar))
        };
        self.properties()?.iter().find(|(_, property)| is_non_scalar(property)).map(|(name, _)| name.as_str())
    }

    /// Converts `arguments` to an object of this schema. Unknown arguments are ignored, unless the schema allows additional properties.
    pub(crate) fn object_of_strings<'a>(
        &self,
        arguments: impl IntoIterator<Item = (Cow<'a, str>, Cow<'a, str>)>,
    ) -> Value {
        let open = self.value().get("additionalProperties").is_some_and(|others| *others != Value::Bool(false));
        let mut object = Map::new();
        for (name, text) in arguments {
            let property = self.properties().and_then(|properties| properties.get(&*name));
            if property.is_some() || open {
                object.insert(name.into_owned(), value_of(property, text));
            }
        }
        Value::Object(object)
    }
}

/// Returns the types of a property: its own, or those of its alternatives.
fn types(property: &Value) -> Vec<&str> {
    let schemas = match property.get("anyOf").and_then(Value::as_array) {
        Some(alternatives) => alternatives.iter().collect(),
        None => vec![property],
    };
    let types = schemas.into_iter().filter_map(|schema| schema.get("type"));
    types
        .flat_map(|kind| kind.as_array().map_or_else(|| vec![kind], |kinds| kinds.iter().collect()))
        .filter_map(Value::as_str)
        .collect()
}

/// Converts a text to a number or a boolean, if the property does not allow a string and the text is valid. Otherwise keeps the
/// string.
fn value_of(property: Option<&Value>, text: Cow<'_, str>) -> Value {
    let types = property.map(types).unwrap_or_default();
    let allows = |name: &str| types.contains(&name) || (types.is_empty() && name == "string");
    let parsed = match () {
        () if allows("string") => None,
        () if allows("number") || allows("integer") => {
            Number::of_text(&text).and_then(Number::to_json).map(Value::Number)
        }
        () if allows("boolean") => text.parse().ok().map(Value::Bool),
        () => None,
    };
    parsed.unwrap_or_else(|| Value::String(text.into_owned()))
}
