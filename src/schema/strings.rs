//! Arguments that are strings on the wire, as values of a schema.
//!
//! The arguments of a prompt are strings. Where a type has a number or a boolean, the string is taken for what it says.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{SCALARS, Schema};
use crate::protocol::description::PromptArgument;

impl Schema {
    /// The properties as arguments of a prompt.
    pub(crate) fn as_arguments(&self) -> Vec<PromptArgument> {
        let required: Vec<_> = self.value.get("required").and_then(Value::as_array).into_iter().flatten().collect();
        let describe = |(name, property): (&String, &Value)| {
            let argument = PromptArgument::new(name.clone());
            let argument = match property.get("description").and_then(Value::as_str) {
                Some(description) => argument.description(description.to_owned()),
                None => argument,
            };
            if required.iter().any(|known| *known == name) { argument.required() } else { argument }
        };
        self.properties().into_iter().flatten().map(describe).collect()
    }

    /// The first property that no string can stand for.
    pub(crate) fn beyond_strings(&self) -> Option<&str> {
        let is_beyond = |property: &Value| match property.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().all(|kind| SCALARS.iter().all(|spelled| kind != spelled)),
            Some(kind) => SCALARS.iter().all(|spelled| kind != spelled),
            // Without a type it is put together from others, as the enum in an `Option` is.
            None => false,
        };
        self.properties()?.iter().find(|(_, property)| is_beyond(property)).map(|(name, _)| name.as_str())
    }

    /// `arguments` as an object of this schema. What it does not know is left out, unless it takes any property.
    pub(crate) fn object_of_strings<'a>(
        &self,
        arguments: impl IntoIterator<Item = (Cow<'a, str>, Cow<'a, str>)>,
    ) -> Value {
        let open = self.value.get("additionalProperties").is_some_and(|others| *others != Value::Bool(false));
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

/// The string, or the number or boolean that it spells, if the property takes no string.
fn value_of(property: Option<&Value>, text: Cow<'_, str>) -> Value {
    let kind = property.and_then(|property| property.get("type"));
    let takes = |name: &str| match kind {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == name),
        Some(kind) => kind == name,
        None => name == "string",
    };
    let spelled = match () {
        () if takes("string") => None,
        () if takes("number") || takes("integer") => text.parse().ok().map(Value::Number),
        () if takes("boolean") => text.parse().ok().map(Value::Bool),
        () => None,
    };
    spelled.unwrap_or_else(|| Value::String(text.into_owned()))
}
