//! The schemas of elicitation forms.
//!
//! Source: 2026-07-28, client/elicitation, "Requested Schema": a flat object of strings, numbers, booleans and choices.

use std::rc::Rc;

use edge_json::write::ObjectWriter;
use edge_json::{Kind, Value as Text, object, write};
use serde_json::{Map, Value};

use super::{SCALARS, Schema};

const FORM: [&str; 4] = ["$schema", "type", "properties", "required"];
/// The keywords of every field.
const EVERY_FIELD: [&str; 4] = ["type", "title", "description", "default"];
/// The types of fields, with their keywords.
const FIELDS: [(&str, &[&str]); 5] = [
    ("string", &["minLength", "maxLength", "format", "enum", "oneOf"]),
    ("number", &["minimum", "maximum"]),
    ("integer", &["minimum", "maximum"]),
    ("boolean", &[]),
    ("array", &["minItems", "maxItems", "items"]),
];
/// The keywords of the items of a list of choices.
const ITEMS: [&str; 3] = ["type", "enum", "anyOf"];
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

impl Schema {
    /// Compiles the schema of a form that the program makes while it runs.
    ///
    /// # Errors
    /// A message with the first part that a form cannot have.
    pub(crate) fn of_own_form(form: &Value) -> Result<Rc<Self>, String> {
        if form.get("type").is_none_or(|kind| kind != "object") {
            return Err("a form must be an object schema".to_owned());
        }
        let members = form.as_object().into_iter().flat_map(Map::keys);
        if let Some(other) = members.into_iter().find(|member| !FORM.contains(&member.as_str())) {
            return Err(format!("a form does not support the keyword `{other}`"));
        }
        let properties = form.get("properties").and_then(Value::as_object);
        let properties = properties.ok_or("a form must have `properties`, which is an object")?;
        for (name, field) in properties {
            check_field(field).map_err(|problem| format!("a form does not support the field `{name}`: {problem}"))?;
        }
        let required = form.get("required").and_then(Value::as_array).into_iter().flatten();
        let is_field = |name: &Value| name.as_str().is_some_and(|name| properties.contains_key(name));
        if let Some(other) = required.into_iter().find(|name| !is_field(name)) {
            return Err(format!("a form requires {other}, which is not one of its fields"));
        }
        Self::of_program(form.clone()).map_err(|error| error.to_string())
    }

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

/// Checks that the specification allows a field.
///
/// # Errors
/// The problem, as a sentence without a full stop.
fn check_field(field: &Value) -> Result<(), String> {
    let kind = field.get("type").and_then(Value::as_str).unwrap_or_default();
    let known = FIELDS.iter().find(|(known, _)| *known == kind);
    let Some((_, keywords)) = known else {
        return Err("its `type` must be string, number, integer, boolean or array".to_owned());
    };
    only(field, &[EVERY_FIELD.as_slice(), keywords].concat())?;
    if field.get("format").is_some_and(|format| !FORMATS.iter().any(|known| format == known)) {
        return Err("its `format` must be email, uri, date or date-time".to_owned());
    }
    if kind != "array" {
        return check_choices(field, "oneOf");
    }
    let items = field.get("items").filter(|items| items.get("enum").or(items.get("anyOf")).is_some());
    let items = items.ok_or("its `items` must have `enum` or `anyOf`")?;
    only(items, &ITEMS)?;
    if items.get("type").is_some_and(|kind| kind != "string") {
        return Err("its choices must be strings".to_owned());
    }
    check_choices(items, "anyOf")
}

/// Checks the choices of a field: strings, which have titles in the member `titled`.
fn check_choices(field: &Value, titled: &str) -> Result<(), String> {
    let are = |member: &str, is_choice: fn(&Value) -> bool| {
        let choices = field.get(member);
        choices.is_none_or(|choices| choices.as_array().is_some_and(|choices| choices.iter().all(is_choice)))
    };
    let has_title = |choice: &Value| {
        only(choice, &["const", "title"]).is_ok()
            && choice.get("const").is_some_and(Value::is_string)
            && choice.get("title").is_some_and(Value::is_string)
    };
    if are("enum", Value::is_string) && are(titled, has_title) {
        return Ok(());
    }
    Err(format!("its choices must be strings in `enum`, or objects with `const` and `title` in `{titled}`"))
}

/// Checks that an object has no other members.
fn only(object: &Value, known: &[&str]) -> Result<(), String> {
    let mut members = object.as_object().into_iter().flat_map(Map::keys);
    match members.find(|member| !known.contains(&member.as_str())) {
        Some(other) => Err(format!("it has the keyword `{other}`")),
        None => Ok(()),
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
        for (keyword, value) in property.as_object()? {
            if keyword != "anyOf" && !value.is_null() {
                field.as_object_mut()?.insert(keyword.clone(), value.clone());
            }
        }
        return Some(field);
    }
    let field = property.as_object()?;
    match field.get("type") {
        Some(kind) if SCALARS.iter().any(|known| kind == known) => Some(property.clone()),
        Some(_) => None,
        // The property may be an enum with documented variants.
        None => choice(field),
    }
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
