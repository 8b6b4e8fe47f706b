//! The JSON Schema of the argument `filter`, as a model sees it.

use edge_json::{object, write};
use serde_json::{Map, Value};

use super::fields::{DeclaredField, FieldType, Fields};
use super::operator::OPERATORS;

impl Fields {
    /// Returns the schema of the argument `filter`.
    ///
    /// It has no definitions and no lists of types, because some clients cannot convert them. The description names the fields and the operators,
    /// because other clients drop the properties of an object in `anyOf`.
    ///
    /// A model reads each byte of the schema in each conversation, so the schema contains only what a model needs. It allows unknown names
    /// and has no limits, and logical operators contain any objects: [`Filter::parse`](super::Filter::parse) rejects wrong filters with a message
    /// that names the declared fields, the nearest operator or the limit.
    pub fn schema(&self) -> Value {
        let operators: Vec<_> = OPERATORS.iter().map(|(name, _)| *name).collect();
        let fields: Vec<_> = self.declared.iter().map(|declared| declared.field.to_string()).collect();
        let description = format!(
            "Conditions on metadata. Test a field ({}) by a value, a list or operators: {}. Logic: $and $or $nor $not. Example: {}",
            fields.join(", "),
            operators.join(" "),
            self.example()
        );
        let mut properties = Map::new();
        for DeclaredField { field, kind, description } in &self.declared {
            properties.insert(field.to_string(), test(*kind, description));
        }
        let operand = of_type("object");
        let list = object(vec![("type", "array".into()), ("items", operand.clone())]);
        for (name, operand) in [("$and", &list), ("$or", &list), ("$nor", &list), ("$not", &operand)] {
            properties.insert(name.into(), operand.clone());
        }
        let filter = object(vec![("type", "object".into()), ("properties", properties.into())]);
        // Models also send the object as JSON text.
        let alternatives = [filter, of_type("string")];
        object(vec![("description", description.into()), ("anyOf", alternatives.into_iter().collect())])
    }

    /// Returns a filter with one of the fields.
    fn example(&self) -> String {
        let number = self.declared.iter().find(|declared| declared.kind == FieldType::Number);
        let Some(DeclaredField { field, kind, .. }) = number.or(self.declared.first()) else { return "{}".into() };
        let test = match kind {
            FieldType::Text => object(vec![("$in", ["a", "b"].into_iter().collect())]),
            FieldType::Number => object(vec![("$gt", 2.into())]),
            FieldType::Boolean => true.into(),
        };
        write::text(&object(vec![(&field.to_string(), test)]))
    }
}

/// Returns the schema of a test: a value, a list of values, or an object with operators.
fn test(kind: FieldType, description: &str) -> Value {
    let value = of_type(kind.name());
    let list = object(vec![("type", "array".into()), ("items", value.clone())]);
    let alternatives = [value, of_type("null"), list, of_type("object")];
    object(vec![("description", description.into()), ("anyOf", alternatives.into_iter().collect())])
}

fn of_type(name: &str) -> Value {
    object(vec![("type", name.into())])
}
