//! The fields that a caller can use in a filter.

use std::fmt;

use edge_json::{object, write};
use serde_json::{Map, Value};

use super::expression::{FilterError, Scalar};
use super::field::Field;
use super::operator::OPERATORS;
use crate::text::Text;

/// The fields that a caller can use in the argument `filter`, with their types. The schema of the tool lists them, and every other field
/// is an error.
///
/// ```
/// use edge_mcp::rag::Fields;
///
/// let fields = Fields::new()
///     .text("category", "Subject of the document")
///     .number("version", "Release, such as 2.1")
///     .boolean("draft", "Whether the document is unfinished");
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Fields {
    pub(super) declared: Vec<DeclaredField>,
    problem: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct DeclaredField {
    pub(super) field: Field,
    pub(super) kind: FieldType,
    pub(super) description: Text,
}

/// The type of a declared field, and of the elements of its arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldType {
    Text,
    Number,
    Boolean,
}

impl FieldType {
    pub(super) fn of(value: &Scalar) -> Self {
        match value {
            Scalar::Text(_) => Self::Text,
            Scalar::Number(_) => Self::Number,
            Scalar::Boolean(_) => Self::Boolean,
        }
    }

    /// Returns the name of the type in JSON Schema.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }

    /// Returns the name of the type with its article.
    pub(super) const fn with_article(self) -> &'static str {
        match self {
            Self::Text => "a string",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
        }
    }
}

impl Fields {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares a field with a string, or with an array of strings. Its name can be a path, such as `author.name`. The model sees the
    /// description.
    pub fn text(self, name: &str, description: impl Into<Text>) -> Self {
        self.declare(name, FieldType::Text, description.into())
    }

    /// Declares a field with a number, or with an array of numbers.
    pub fn number(self, name: &str, description: impl Into<Text>) -> Self {
        self.declare(name, FieldType::Number, description.into())
    }

    /// Declares a field with a boolean, or with an array of booleans.
    pub fn boolean(self, name: &str, description: impl Into<Text>) -> Self {
        self.declare(name, FieldType::Boolean, description.into())
    }

    fn declare(mut self, name: &str, kind: FieldType, description: Text) -> Self {
        match Field::parse(name) {
            Ok(field) if self.find(&field).is_some() => {
                self.add_problem(format!("the field `{field}` is declared twice."));
            }
            Ok(field) if description.trim().is_empty() => {
                self.add_problem(format!("the field `{field}` needs a description."));
            }
            Ok(field) => self.declared.push(DeclaredField { field, kind, description }),
            Err(problem) => self.add_problem(problem),
        }
        self
    }

    fn add_problem(&mut self, problem: String) {
        self.problem.get_or_insert(problem);
    }

    /// Checks the declarations.
    ///
    /// # Errors
    /// The first problem: an invalid name, a name that is declared twice, or a blank description.
    pub fn check(&self) -> Result<(), FilterError> {
        self.problem.as_deref().map_or(Ok(()), |problem| Err(FilterError(problem.into())))
    }

    /// Returns whether no field is declared. A tool without fields has no argument `filter`.
    pub fn is_empty(&self) -> bool {
        self.declared.is_empty()
    }

    pub(super) fn find(&self, field: &Field) -> Option<&DeclaredField> {
        self.declared.iter().find(|declared| declared.field == *field)
    }
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, DeclaredField { field, .. }) in self.declared.iter().enumerate() {
            write!(f, "{}{field}", if nth == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_checked() {
        let fields = Fields::new().text("category", "Subject").number("author.born", "Year of birth");
        assert_eq!((fields.check(), fields.is_empty()), (Ok(()), false));
        assert_eq!(fields.to_string(), "category, author.born");
        for (fields, problem) in [
            (Fields::new().text("a", "A").number("a", "A"), "the field `a` is declared twice."),
            (Fields::new().boolean("a", " "), "the field `a` needs a description."),
            (Fields::new().text("a b", "A").text("b", ""), "`a b` is not the name of a field. A name has 1 to 64"),
        ] {
            let error = fields.check().expect_err(problem);
            assert!(error.0.starts_with(problem), "{error}");
        }
    }
}
