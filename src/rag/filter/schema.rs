//! The JSON Schema of the argument `filter`, as a model sees it.

use edge_json::{object, write};
use serde_json::{Map, Value};

use super::fields::{Declared, FieldType, Fields};
use super::operator::OPERATORS;

impl Fields {
    /// Returns the schema of the argument `filter`, and the definitions that it refers to. They belong into `$defs` of the schema of all
    /// arguments.
    ///
    /// The schema has two levels: tests of fields, and logical operators over objects of such tests. So no definition refers to itself,
    /// because some clients cannot convert such schemas.
    ///
    /// A model reads each byte of the schema in each conversation, so the schema contains only what a model needs. It allows unknown names
    /// and has no limits: [`Filter::parse`](super::Filter::parse) rejects such filters with a message that names the declared fields, the
    /// nearest operator or the limit. The operators are in the description, because properties for each type would need more bytes than
    /// the rest of the schema.
    ///
    /// The schema has no alternatives such as `anyOf`, so that the message about an invalid filter names the wrong part: a keyword for
    /// objects does not apply to strings and lists.
    pub fn schema(&self) -> (Value, Map<String, Value>) {
        let operators: Vec<_> = OPERATORS.iter().map(|(name, _)| *name).collect();
        let description = format!(
            "Conditions on metadata. Test a field by a value, a list or operators: {}. Example: {}",
            operators.join(" "),
            self.example()
        );
        let mut argument = reference("filter");
        add(&mut argument, "description", description.into());
        let mut definitions = Map::new();
        definitions.insert("filter".into(), self.filter());
        let list = object(vec![("type", "array".into()), ("items", reference("fields"))]);
        definitions.insert("list".into(), list);
        definitions.insert("fields".into(), self.tests());
        for kind in [FieldType::Text, FieldType::Number, FieldType::Boolean] {
            if self.declared.iter().any(|declared| declared.kind == kind) {
                definitions.insert(definition(kind).into(), test(kind));
            }
        }
        (argument, definitions)
    }

    /// Returns the schema of a filter: tests of fields with their descriptions, and logical operators.
    fn filter(&self) -> Value {
        let mut properties = Map::new();
        for Declared { field, kind, description } in &self.declared {
            let mut test = reference(definition(*kind));
            add(&mut test, "description", description.as_ref().into());
            properties.insert(field.to_string(), test);
        }
        for (name, operand) in [("$and", "list"), ("$or", "list"), ("$nor", "list"), ("$not", "fields")] {
            properties.insert(name.into(), reference(operand));
        }
        // Models also send the object as JSON text.
        object(vec![("type", ["object", "string"].into_iter().collect()), ("properties", properties.into())])
    }

    /// Returns the schema of an object in a logical operator: tests of fields.
    fn tests(&self) -> Value {
        let test = |declared: &Declared| (declared.field.to_string(), reference(definition(declared.kind)));
        let properties: Map<_, _> = self.declared.iter().map(test).collect();
        object(vec![("properties", properties.into())])
    }

    /// Returns a filter with one of the fields.
    fn example(&self) -> String {
        let number = self.declared.iter().find(|declared| declared.kind == FieldType::Number);
        let Some(Declared { field, kind, .. }) = number.or(self.declared.first()) else { return "{}".into() };
        let test = match kind {
            FieldType::Text => object(vec![("$in", ["a", "b"].into_iter().collect())]),
            FieldType::Number => object(vec![("$gt", 2.into())]),
            FieldType::Boolean => true.into(),
        };
        write::text(&object(vec![(&field.to_string(), test)]))
    }
}

/// Returns the schema of a test: a value, a list of values, or an object with operators.
fn test(kind: FieldType) -> Value {
    let types = [kind.name(), "null", "array", "object"].into_iter().collect();
    object(vec![("type", types), ("items", object(vec![("type", kind.name().into())]))])
}

/// Returns a reference to a definition.
fn reference(name: &str) -> Value {
    object(vec![("$ref", format!("#/$defs/{name}").into())])
}

/// Sets a keyword of a schema.
fn add(schema: &mut Value, keyword: &str, value: Value) {
    if let Some(schema) = schema.as_object_mut() {
        schema.insert(keyword.to_owned(), value);
    }
}

/// Returns the name of the definition of a test.
fn definition(kind: FieldType) -> &'static str {
    match kind {
        FieldType::Text => "text",
        FieldType::Number => "number",
        FieldType::Boolean => "boolean",
    }
}
