//! A filter, and the functions that build one.

use std::cmp::Ordering;
use std::error::Error;
use std::fmt;

use serde_json::{Map, Value};

use super::field::Field;
use crate::limits::{COMBINED_BYTES, COMBINED_DEPTH, COMBINED_TESTS, FILTER_LIST, FILTER_TEXT};

/// A condition on the metadata of passages.
///
/// The constructors do not fail. A filter with an invalid part, such as an invalid name of a field, is invalid as a whole: it matches
/// nothing, [`check`](Self::check) returns the error, and so does every search with this filter. Negations and combinations of an invalid
/// filter are invalid too.
///
/// The name of a field can be a path into nested objects, such as `author.name`. A test of a field with an array holds if it holds for any
/// element. For access control, use tests that are not negated, because negated tests also match documents without the field.
///
/// ```
/// use edge_mcp::rag::Filter;
/// use serde_json::json;
///
/// let published = Filter::eq("status", "published").and(Filter::gte("version", 2));
/// let matches = |metadata: serde_json::Value| published.matches(metadata.as_object().unwrap());
/// assert!(matches(json!({ "status": "published", "version": 2.5 })));
/// assert!(!matches(json!({ "status": "published", "version": "2.5" })));
/// assert!(!matches(json!({ "version": 2.5 })));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Filter(Result<Expression, FilterError>);

/// The error of an invalid filter, or of an invalid declaration of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError(pub(super) Box<str>);

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the filter is invalid: {}", self.0)
    }
}

impl Error for FilterError {}

/// An expression with two truth values.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    /// All expressions hold.
    All(Vec<Expression>),
    /// At least one expression holds.
    Any(Vec<Expression>),
    Not(Box<Expression>),
    /// A test of a field.
    Test(Field, FieldTest),
}

/// A test of the elements of a field. It holds if it holds for any element.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FieldTest {
    /// The element is one of the values.
    In(Vec<Scalar>),
    Compare(Comparison, Scalar),
    /// The field is a string with this part, or an array with this element.
    Contains(Scalar),
    /// There is an element.
    Exists,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Greater,
    AtLeast,
    Less,
    AtMost,
}

impl Comparison {
    pub(super) fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Greater => order.is_gt(),
            Self::AtLeast => order.is_ge(),
            Self::Less => order.is_lt(),
            Self::AtMost => order.is_le(),
        }
    }
}

impl Default for Filter {
    /// Creates a filter that matches everything.
    fn default() -> Self {
        Self(Ok(Expression::All(Vec::new())))
    }
}

impl Filter {
    /// The field has this value.
    pub fn eq(field: &str, value: impl Into<Scalar>) -> Self {
        Self::test(field, FieldTest::In(vec![value.into()]))
    }

    /// The field does not have this value, or is missing.
    pub fn ne(field: &str, value: impl Into<Scalar>) -> Self {
        Self::not(Self::eq(field, value))
    }

    /// The field is greater than the number or string. Strings are compared byte by byte.
    pub fn gt(field: &str, value: impl Into<Scalar>) -> Self {
        Self::test(field, FieldTest::Compare(Comparison::Greater, value.into()))
    }

    /// The field is greater than or equal to the number or string.
    pub fn gte(field: &str, value: impl Into<Scalar>) -> Self {
        Self::test(field, FieldTest::Compare(Comparison::AtLeast, value.into()))
    }

    /// The field is less than the number or string.
    pub fn lt(field: &str, value: impl Into<Scalar>) -> Self {
        Self::test(field, FieldTest::Compare(Comparison::Less, value.into()))
    }

    /// The field is less than or equal to the number or string.
    pub fn lte(field: &str, value: impl Into<Scalar>) -> Self {
        Self::test(field, FieldTest::Compare(Comparison::AtMost, value.into()))
    }

    /// The field has one of these values, at most 100. Without values, the filter matches nothing.
    pub fn any_of<V: Into<Scalar>>(field: &str, values: impl IntoIterator<Item = V>) -> Self {
        Self::test(field, FieldTest::In(values.into_iter().map(Into::into).collect()))
    }

    /// The field has none of these values, or is missing.
    pub fn none_of<V: Into<Scalar>>(field: &str, values: impl IntoIterator<Item = V>) -> Self {
        Self::not(Self::any_of(field, values))
    }

    /// The field has a value: a string, a number, a boolean, or an array with at least one of these.
    pub fn exists(field: &str) -> Self {
        Self::test(field, FieldTest::Exists)
    }

    /// The field is a string with this part, or an array with this element. The case of letters matters.
    pub fn contains(field: &str, value: impl Into<Scalar>) -> Self {
        Self::test(field, FieldTest::Contains(value.into()))
    }

    /// The filter does not match.
    #[expect(clippy::should_implement_trait, reason = "`Filter::not(filter)` reads like the other functions")]
    pub fn not(filter: Self) -> Self {
        Self(filter.0.and_then(|expression| checked(Expression::Not(Box::new(expression)))))
    }

    /// Both filters match. The result never matches more than either filter alone.
    pub fn and(self, other: Self) -> Self {
        self.combined(other, |filter, other| match filter {
            Expression::All(mut filters) => {
                filters.push(other);
                Expression::All(filters)
            }
            filter => Expression::All(vec![filter, other]),
        })
    }

    /// At least one of the filters matches.
    pub fn or(self, other: Self) -> Self {
        self.combined(other, |filter, other| match filter {
            Expression::Any(mut filters) => {
                filters.push(other);
                Expression::Any(filters)
            }
            filter => Expression::Any(vec![filter, other]),
        })
    }

    /// Returns the filter that both filters match, without a test for a filter that matches everything.
    pub(in crate::rag) fn narrowed_by(self, other: Self) -> Self {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => other,
            (_, true) => self,
            _ => self.and(other),
        }
    }

    fn combined(self, other: Self, combine: fn(Expression, Expression) -> Expression) -> Self {
        Self(self.0.and_then(|filter| other.0.and_then(|other| checked(combine(filter, other)))))
    }

    fn test(field: &str, test: FieldTest) -> Self {
        let field = Field::parse(field);
        let built = field.and_then(|field| match test.problem() {
            Some(problem) => Err(format!("the value for `{field}` {problem}")),
            None => Ok(Expression::Test(field, test)),
        });
        Self(built.map_err(|problem| FilterError(problem.into())).and_then(checked))
    }

    /// Creates a filter from an expression whose parts were checked.
    pub(super) fn of(expression: Expression) -> Self {
        Self(checked(expression))
    }

    /// Checks whether the filter is valid.
    ///
    /// # Errors
    /// The first invalid part, or a limit that the filter exceeds. The text can contain the names of fields, so it is for the log.
    pub fn check(&self) -> Result<(), FilterError> {
        self.expression().map(|_| ())
    }

    pub(super) fn expression(&self) -> Result<&Expression, FilterError> {
        self.0.as_ref().map_err(Clone::clone)
    }

    /// Returns whether the filter matches everything because it has no tests.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Ok(Expression::All(filters)) if filters.is_empty())
    }
}

impl FieldTest {
    /// Returns the problem with the values, as the predicate of a sentence.
    fn problem(&self) -> Option<String> {
        match self {
            Self::In(values) if values.len() > FILTER_LIST => Some(too_many_values(values.len())),
            Self::In(values) => values.iter().find_map(Scalar::problem),
            Self::Compare(_, Scalar::Boolean(_)) => {
                Some("must be a number or a string, because booleans have no order.".into())
            }
            Self::Compare(_, value) | Self::Contains(value) => value.problem(),
            Self::Exists => None,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::In(values) => values.iter().map(Scalar::bytes).sum(),
            Self::Compare(_, value) | Self::Contains(value) => value.bytes(),
            Self::Exists => 0,
        }
    }
}

/// Returns the predicate of a sentence about a list that is too long.
pub(super) fn too_many_values(count: usize) -> String {
    format!("must be a list of at most {FILTER_LIST} values (got {count}).")
}

/// Checks the limits of a whole filter.
fn checked(expression: Expression) -> Result<Expression, FilterError> {
    let Size { tests, depth, bytes } = Size::of(&expression);
    let limits = [
        (tests, COMBINED_TESTS, "tests"),
        (depth, COMBINED_DEPTH, "levels of nesting"),
        (bytes, COMBINED_BYTES, "bytes in its strings"),
    ];
    match limits.into_iter().find(|(size, limit, _)| size > limit) {
        Some((size, limit, unit)) => {
            Err(FilterError(format!("it must have at most {limit} {unit} (got {size}).").into()))
        }
        None => Ok(expression),
    }
}

#[derive(Default)]
struct Size {
    tests: usize,
    depth: usize,
    bytes: usize,
}

impl Size {
    /// Measures an expression. The recursion is bounded, because the parts of the expression are within the limit on nesting.
    fn of(expression: &Expression) -> Self {
        let inner = match expression {
            Expression::All(inner) | Expression::Any(inner) => inner.as_slice(),
            Expression::Not(inner) => std::slice::from_ref(&**inner),
            Expression::Test(_, test) => return Self { tests: 1, depth: 1, bytes: test.bytes() },
        };
        let mut size = Self::default();
        for inner in inner {
            let Self { tests, depth, bytes } = Self::of(inner);
            size.tests = size.tests.saturating_add(tests);
            size.depth = size.depth.max(depth);
            size.bytes = size.bytes.saturating_add(bytes);
        }
        size.depth = size.depth.saturating_add(1);
        size
    }
}

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
    let equals = |value: &Scalar| value.compare(element).is_some_and(Ordering::is_eq);
    match test {
        FieldTest::In(values) => values.iter().any(equals),
        FieldTest::Compare(comparison, value) => value.compare(element).is_some_and(|order| comparison.holds(order)),
        FieldTest::Contains(value) => equals(value),
        FieldTest::Exists => element.is_string() || element.is_number() || element.is_boolean(),
    }
}

/// A value in a filter: a string, a number or a boolean.
///
/// Numbers are `f64`, because JSON numbers in metadata are compared as `f64`. There is no conversion from `i64` and `u64`, whose large
/// values are not exact as `f64`. Store a large id as a string.
///
/// ```
/// use edge_mcp::rag::Scalar;
///
/// assert_eq!(Scalar::from("tea"), Scalar::Text("tea".into()));
/// assert_eq!(Scalar::from(2), Scalar::Number(2.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// A string, at most 512 bytes.
    Text(String),
    /// A number that is neither infinite nor NaN.
    Number(f64),
    /// A boolean.
    Boolean(bool),
}

impl Scalar {
    /// Returns the problem with the value, as the predicate of a sentence.
    pub(super) fn problem(&self) -> Option<String> {
        match self {
            Self::Text(text) if text.len() > FILTER_TEXT => {
                Some(format!("must have at most {FILTER_TEXT} bytes (got {}).", text.len()))
            }
            Self::Number(number) if !number.is_finite() => {
                Some("must be a number within the range of 64-bit floats.".into())
            }
            _ => None,
        }
    }

    /// Returns the size of a string in bytes. Other values count as one byte.
    pub(super) fn bytes(&self) -> usize {
        if let Self::Text(text) = self { text.len() } else { 1 }
    }

    /// Compares the value of a field with this value. Returns `None` if their types differ.
    pub(super) fn compare(&self, element: &Value) -> Option<Ordering> {
        match self {
            Self::Text(text) => Some(element.as_str()?.cmp(text)),
            Self::Number(number) => element.as_f64()?.partial_cmp(number),
            Self::Boolean(boolean) => Some(element.as_bool()?.cmp(boolean)),
        }
    }
}

macro_rules! from {
    ($($from:ty => $variant:ident),*) => {$(
        impl From<$from> for Scalar {
            fn from(value: $from) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

from! { &str => Text, String => Text, &String => Text, f64 => Number, f32 => Number, i32 => Number, u32 => Number, bool => Boolean }
