//! The evaluation of a filter on a JSON object.

use serde_json::{Map, Value};

use super::expression::{Expression, FieldTest, Filter};
use super::field::Field;
use super::scalar::Scalar;

impl Filter {
    /// Returns whether a document with this metadata matches. An invalid filter matches nothing.
    pub fn matches(&self, metadata: &Map<String, Value>) -> bool {
        self.expression().is_ok_and(|expression| holds(expression, metadata))
    }
}

fn holds(expression: &Expression, metadata: &Map<String, Value>) -> bool {
    match expression {
        Expression::All(inner) => inner.iter().all(|inner| holds(inner, metadata)),
        Expression::Any(inner) => inner.iter().any(|inner| holds(inner, metadata)),
        Expression::Not(inner) => !holds(inner, metadata),
        Expression::Test(field, test) => find(field, metadata).is_some_and(|value| is_met(test, value)),
    }
}

/// Returns the value of a field.
fn find<'m>(field: &Field, metadata: &'m Map<String, Value>) -> Option<&'m Value> {
    let mut names = field.names();
    let first = metadata.get(names.next()?)?;
    names.try_fold(first, |value, name| value.as_object()?.get(name))
}

/// Returns whether any element of `value` meets the test.
fn is_met(test: &FieldTest, value: &Value) -> bool {
    match (value, test) {
        (Value::Array(items), _) => items.iter().any(|item| holds_for(test, item)),
        (_, FieldTest::Contains(Scalar::Text(part))) => value.as_str().is_some_and(|text| text.contains(part)),
        (_, FieldTest::Contains(_)) => false,
        _ => holds_for(test, value),
    }
}

fn holds_for(test: &FieldTest, element: &Value) -> bool {
    let equals = |value: &Scalar| value.compare(element).is_some_and(std::cmp::Ordering::is_eq);
    match test {
        FieldTest::In(values) => values.iter().any(equals),
        FieldTest::Compare(comparison, value) => value.compare(element).is_some_and(|order| comparison.holds(order)),
        FieldTest::Contains(value) => equals(value),
        FieldTest::Exists => element.is_string() || element.is_number() || element.is_boolean(),
    }
}
