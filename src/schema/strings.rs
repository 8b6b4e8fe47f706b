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

/// Returns the alternatives of a property, of which each has one type, or the property itself.
fn alternatives(property: &Value) -> &[Value] {
    property.get("anyOf").and_then(Value::as_array).map_or(std::slice::from_ref(property), Vec::as_slice)
}

/// Returns whether a string cannot represent a value of a property. A property without types is a combination of schemas, such as an enum with
/// documented variants.
fn is_non_scalar(property: &Value) -> bool {
    let is_other = |kind: &Value| SCALARS.iter().all(|scalar| kind != scalar);
    alternatives(property).iter().all(|part| part.get("type").is_some_and(is_other))
}

/// Returns whether a property, or one of its alternatives, has a type.
fn allows(property: &Value, name: &str) -> bool {
    alternatives(property).iter().any(|part| part.get("type").is_some_and(|kind| kind == name))
}

/// Converts a text to a number or a boolean, if the property does not allow a string and the text is valid. Otherwise keeps the
/// string.
fn value_of(property: Option<&Value>, text: Cow<'_, str>) -> Value {
    let allows = |name: &str| property.is_some_and(|property| allows(property, name));
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
