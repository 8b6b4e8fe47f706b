//! The schemas of elicitation forms.
//!
//! Source: 2026-07-28, client/elicitation, "Requested Schema": a flat object of strings, numbers, booleans and choices.

use edge_json::write::ObjectWriter;
use edge_json::{Kind, Value as Text, object, write};
use serde_json::{Map, Value};

use super::{SCALARS, Schema};

impl Schema {
    /// Converts the schema to the schema of a form.
    ///
    /// # Errors
    /// A message with the first field that a form does not support.
    pub(crate) fn form(&self) -> Result<Value, String> {
        let mut properties = Map::new();
        for (name, property) in self.properties().into_iter().flatten() {
            let field = field(property)
                .ok_or_else(|| format!("a form does not support the field `{name}`: {}", write::text(property)))?;
            properties.insert(name.clone(), field);
        }
        let required = self.value().get("required").cloned().unwrap_or_else(|| Value::Array(Vec::new()));
        Ok(object(vec![("type", "object".into()), ("properties", properties.into()), ("required", required)]))
    }

    /// Returns the members of the answer to a form that the form has, as JSON text. An answer that is not an object is returned unchanged.
    pub(crate) fn form_members(&self, answer: Text<'_>) -> String {
        if answer.kind() != Kind::Object {
            return answer.text().to_owned();
        }
        let properties = self.properties();
        let is_known = |name: &str| properties.is_some_and(|properties| properties.contains_key(name));
        let known = answer.members().filter(|(name, _)| is_known(name));
        known.fold(ObjectWriter::new(), |object, (name, value)| object.json(&name, value.text())).finish()
    }
}

/// Returns the alternative in `anyOf` that is not `null`, if there is exactly one.
fn not_null(property: &Value) -> Option<&Value> {
    let alternatives = property.get("anyOf")?.as_array()?;
    let mut others =
        alternatives.iter().filter(|alternative| alternative.get("type").is_none_or(|kind| kind != "null"));
    others.next().filter(|_| others.next().is_none())
}

/// Converts a property to a field, or returns `None` if a form does not support it. `null` is removed, because a form marks an optional
/// field only by its absence from `required`.
fn field(property: &Value) -> Option<Value> {
    if let Some(other) = not_null(property) {
        let mut field = field(other)?;
        let beside = property.as_object()?.iter().filter(|(keyword, value)| *keyword != "anyOf" && !value.is_null());
        field.as_object_mut()?.extend(beside.map(|(keyword, value)| (keyword.clone(), value.clone())));
        return Some(field);
    }
    let mut field = property.as_object()?.clone();
    let kinds: Vec<Value> = match field.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().filter(|kind| *kind != "null").cloned().collect(),
        Some(kind) => vec![kind.clone()],
        // The property may be an enum with documented variants.
        None => return choice(&field),
    };
    let [kind] = kinds.as_slice() else { return None };
    if !SCALARS.iter().any(|known| kind == known) {
        return None;
    }
    field.insert("type".into(), kind.clone());
    if let Some(choices) = field.get_mut("enum").and_then(Value::as_array_mut) {
        choices.retain(|choice| !choice.is_null());
    }
    Some(Value::Object(field))
}

/// Converts an enum with documented variants to a choice with titles, or returns `None` if the property is not such an enum.
fn choice(field: &Map<String, Value>) -> Option<Value> {
    let alternatives = field.get("oneOf")?.as_array()?;
    let mut titled = Vec::new();
    for alternative in alternatives {
        let value = alternative.get("const")?.as_str()?;
        let title = alternative.get("description").and_then(Value::as_str).unwrap_or(value);
        titled.push(object(vec![("const", value.into()), ("title", title.into())]));
    }
    let mut choice = vec![("type", "string".into()), ("oneOf", titled.into())];
    choice.extend(field.get("description").map(|description| ("description", description.clone())));
    Some(object(choice))
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde_json::json;

    use super::*;

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    enum Unit {
        Millimeters,
        Inches,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Size {
        /// The width
        #[schemars(range(min = 1, max = 9))]
        width: Option<u8>,
        /// Its unit
        unit: Option<Unit>,
    }

    #[test]
    fn optional_fields_of_a_form_keep_their_texts_and_limits() {
        let form = Schema::of::<Size>().expect("a schema").form().expect("a form");
        let expected = json!({
            "width": { "type": "integer", "minimum": 1, "maximum": 9, "description": "The width" },
            "unit": { "type": "string", "enum": ["Millimeters", "Inches"], "description": "Its unit" },
        });
        assert_eq!((&form["properties"], &form["required"]), (&expected, &json!([])));
    }
}
