//! The JSON Schema of the argument `filter`, as a model sees it.

use edge_json::{object, write};
use serde_json::{Map, Value};

use super::fields::{Declared, FieldType, Fields};
use super::operator::{OPERATORS, Operator};
use crate::limits::{FILTER_BYTES, FILTER_LIST, FILTER_TESTS, FILTER_TEXT};

impl Fields {
    /// Returns the schema of the argument `filter`, and the definitions that it refers to. They belong into `$defs` of the schema of all
    /// arguments.
    ///
    /// The schema has no alternatives such as `anyOf`, so that the message about an invalid filter names the wrong part: a keyword for
    /// objects does not apply to strings and lists. The schema also allows unknown names. [`Filter::parse`](super::Filter::parse) rejects
    /// them with a message that names the declared fields, or the nearest operator.
    pub fn schema(&self) -> (Value, Map<String, Value>) {
        let description = format!(
            "Restricts the search by metadata: an object, or the same object as JSON text. Example: {}",
            self.example()
        );
        let mut argument = reference("filter", "object");
        add(&mut argument, "type", names(&["object", "string"]));
        add(&mut argument, "maxLength", FILTER_BYTES.into());
        add(&mut argument, "description", description.into());
        let mut definitions = Map::new();
        definitions.insert("filter".into(), self.filter());
        for kind in [FieldType::Text, FieldType::Number, FieldType::Boolean] {
            if self.declared.iter().any(|declared| declared.kind == kind) {
                definitions.insert(test_name(kind).into(), test(kind));
            }
        }
        (argument, definitions)
    }

    /// Returns the schema of a filter.
    fn filter(&self) -> Value {
        let mut properties = Map::new();
        for Declared { field, kind, description } in &self.declared {
            let test = vec![("$ref", pointer(test_name(*kind))), ("description", description.as_ref().into())];
            properties.insert(field.to_string(), object(test));
        }
        for name in ["$and", "$or", "$nor"] {
            properties.insert(name.into(), list(reference("filter", "object"), 1, FILTER_TESTS));
        }
        properties.insert("$not".into(), reference("filter", "object"));
        object(vec![("properties", properties.into())])
    }

    /// Returns a filter with one of the fields.
    fn example(&self) -> String {
        let number = self.declared.iter().find(|declared| declared.kind == FieldType::Number);
        let Some(Declared { field, kind, .. }) = number.or(self.declared.first()) else { return "{}".into() };
        let test = match kind {
            FieldType::Text => object(vec![("$in", names(&["a", "b"]))]),
            FieldType::Number => object(vec![("$gt", 2.into())]),
            FieldType::Boolean => true.into(),
        };
        write::text(&object(vec![(&field.to_string(), test)]))
    }
}

/// Returns the schema of a test: a value, a list of values, or an object with operators.
fn test(kind: FieldType) -> Value {
    let mut operators = Map::new();
    for (name, operator) in OPERATORS {
        let operand = match operator {
            Operator::Compare(_) if kind == FieldType::Boolean => continue,
            Operator::Eq | Operator::Ne => {
                let mut value = value(kind);
                add(&mut value, "type", names(&[kind.name(), "null"]));
                value
            }
            Operator::Compare(_) | Operator::Contains => value(kind),
            Operator::In | Operator::Nin => list(value(kind), 0, FILTER_LIST),
            Operator::Exists => object(vec![("type", "boolean".into())]),
            Operator::Not => reference(test_name(kind), "object"),
        };
        operators.insert(name.into(), operand);
    }
    let mut test = list(value(kind), 1, FILTER_LIST);
    add(&mut test, "type", names(&[kind.name(), "null", "array", "object"]));
    if kind == FieldType::Text {
        add(&mut test, "maxLength", FILTER_TEXT.into());
    }
    add(&mut test, "minProperties", 1.into());
    add(&mut test, "properties", operators.into());
    test
}

/// Returns the schema of a value. The parser counts bytes, of which a string has at least as many as characters.
fn value(kind: FieldType) -> Value {
    match kind {
        FieldType::Text => object(vec![("type", "string".into()), ("maxLength", FILTER_TEXT.into())]),
        FieldType::Number | FieldType::Boolean => object(vec![("type", kind.name().into())]),
    }
}

fn list(items: Value, least: usize, most: usize) -> Value {
    let mut list = vec![("type", "array".into()), ("items", items), ("maxItems", most.into())];
    if least > 0 {
        list.push(("minItems", least.into()));
    }
    object(list)
}

/// Returns a reference to a definition, for values of one type.
fn reference(name: &str, kind: &str) -> Value {
    object(vec![("$ref", pointer(name)), ("type", kind.into())])
}

fn pointer(name: &str) -> Value {
    format!("#/$defs/{name}").into()
}

fn names(names: &[&str]) -> Value {
    names.iter().copied().collect()
}

/// Sets a keyword of a schema.
fn add(schema: &mut Value, keyword: &str, value: Value) {
    if let Some(schema) = schema.as_object_mut() {
        schema.insert(keyword.to_owned(), value);
    }
}

fn test_name(kind: FieldType) -> &'static str {
    match kind {
        FieldType::Text => "textTest",
        FieldType::Number => "numberTest",
        FieldType::Boolean => "booleanTest",
    }
}
