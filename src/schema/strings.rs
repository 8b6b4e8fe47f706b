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
        let is_non_scalar = |property: &Value| match property.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().all(|kind| SCALARS.iter().all(|scalar| kind != scalar)),
            Some(kind) => SCALARS.iter().all(|scalar| kind != scalar),
            // A property without `type` is a combination of schemas, such as an optional enum.
            None => false,
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

/// Converts a text to a number or a boolean, if the property does not allow a string and the text is valid. Otherwise keeps the
/// string.
fn value_of(property: Option<&Value>, text: Cow<'_, str>) -> Value {
    let kind = property.and_then(|property| property.get("type"));
    let allows = |name: &str| match kind {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == name),
        Some(kind) => kind == name,
        None => name == "string",
    };
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
