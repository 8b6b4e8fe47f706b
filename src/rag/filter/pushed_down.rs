//! The part of a filter that a vector index evaluates.
//!
//! Vectorize looks for the nearest vectors among those that match its filter. So a filter that only the database evaluates can leave fewer
//! passages than the caller asked for. The database evaluates the whole filter in any case. So the part must match everything that the
//! whole filter matches, and it may match more: every test that Vectorize cannot evaluate, or for which its documentation does not describe
//! the result, is left out.

use edge_json::{object, write};
use serde_json::{Number, Value};

use super::expression::{Comparison, Expression, Filter, Test};
use super::field::Field;
use super::fields::{FieldType, Fields};
use super::scalar::Scalar;

/// The JSON text of a filter of Vectorize has fewer bytes.
const FILTER_BYTES: usize = 2048;

/// Vectorize indexes so many bytes of a string.
const TEXT_BYTES: usize = 64;

impl Filter {
    /// Returns the part of the filter that a [`VectorIndex`](crate::rag::VectorIndex) evaluates, or `None` if there is no such part. It
    /// matches at least everything that the filter matches.
    ///
    /// The part consists of tests of [indexed](Fields::indexed) fields for one of several values, or for a range of numbers, that every
    /// match must meet. The values have the type of the field, and strings have at most 64 bytes.
    ///
    /// ```
    /// use edge_mcp::rag::{Fields, Filter};
    /// use serde_json::json;
    ///
    /// let fields = Fields::new().text("status", "Status").indexed().number("version", "Release").indexed();
    /// let filter = Filter::eq("status", "published").and(Filter::gt("version", 2)).and(Filter::ne("version", 3));
    /// let part = json!({ "status": { "$in": ["published"] }, "version": { "$gt": 2.0 } });
    /// assert_eq!(filter.pushed_down(&fields), Some(part));
    /// ```
    pub fn pushed_down(&self, fields: &Fields) -> Option<Value> {
        let nothing = object(vec![]);
        let mut part = nothing.clone();
        add(self.expression().ok()?, fields, &mut part);
        (part != nothing).then_some(part)
    }
}

/// Adds the tests that every match of the expression meets. The recursion is bounded, because filters have a limit on nesting.
fn add(expression: &Expression, fields: &Fields, part: &mut Value) {
    match expression {
        Expression::All(inner) => inner.iter().for_each(|inner| add(inner, fields, part)),
        Expression::Test(field, test) => {
            if let Some((operator, value)) = test_of(field, test, fields) {
                add_test(field.to_string(), operator, value, part);
            }
        }
        Expression::Any(_) | Expression::Not(_) => {}
    }
}

/// Returns the operator of Vectorize for a test, and its value.
fn test_of(field: &Field, test: &Test, fields: &Fields) -> Option<(&'static str, Value)> {
    let kind = fields.find_indexed(field)?.kind;
    match test {
        Test::In(values) if !values.is_empty() => {
            let values: Option<Vec<Value>> = values.iter().map(|value| value_of(value, kind)).collect();
            Some(("$in", values?.into()))
        }
        Test::Compare(comparison, value @ Scalar::Number(_)) => Some((operator(*comparison), value_of(value, kind)?)),
        _ => None,
    }
}

/// Returns a value that the index of a field of this type can have.
fn value_of(value: &Scalar, kind: FieldType) -> Option<Value> {
    if FieldType::of(value) != kind {
        return None;
    }
    match value {
        Scalar::Text(text) => (text.len() <= TEXT_BYTES).then(|| text.as_str().into()),
        Scalar::Number(number) => Number::from_f64(*number).map(Value::Number),
        Scalar::Boolean(boolean) => Some((*boolean).into()),
    }
}

fn operator(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Greater => "$gt",
        Comparison::AtLeast => "$gte",
        Comparison::Less => "$lt",
        Comparison::AtMost => "$lte",
    }
}

/// Returns whether two tests can be about the same field: the two ends of a range.
fn are_range(first: &str, second: &str) -> bool {
    matches!((first, second), ("$gt" | "$gte", "$lt" | "$lte") | ("$lt" | "$lte", "$gt" | "$gte"))
}

/// Adds a test, unless the field has another test that excludes it, or the filter would be too long.
fn add_test(field: String, operator: &'static str, value: Value, part: &mut Value) {
    let mut longer = part.clone();
    let Some(tests) = longer.as_object_mut() else { return };
    let Some(test) = tests.entry(field).or_insert_with(|| object(vec![])).as_object_mut() else { return };
    if test.keys().all(|other| are_range(other, operator)) {
        test.insert(operator.into(), value);
        if write::text(&longer).len() < FILTER_BYTES {
            *part = longer;
        }
    }
}
