//! A filter from JSON.

use edge_json::number::float;
use edge_json::{Document, JsonError, JsonLimits, Kind, Value};

use super::expression::{Comparison, Expression, FieldTest, Filter, FilterError, Scalar, too_many_values};
use super::field::{Field, quoted};
use super::fields::{FieldType, Fields};
use super::operator::{Operator, operator, unsupported};
use crate::call::error::HandlerError;
use crate::limits::{FILTER_BYTES, FILTER_DEPTH, FILTER_LIST, FILTER_TESTS};
use crate::text::shortened;

/// The limits of a filter in a JSON text. Between the objects of a filter, there is at most one array each.
const LIMITS: JsonLimits = JsonLimits { depth: 2 * FILTER_DEPTH, values: FILTER_BYTES };

/// The predicate of a sentence about a logical operator in another one.
const ONLY_FIELDS: &str = "is nested too deeply: `$and`, `$or`, `$nor` and `$not` contain only tests of fields. All tests of an object must \
                           hold. Use `$in` for several values, and `$ne` or `$nin` to negate a test.";

const EXAMPLE: &str = "Example: {\"field\":{\"$gt\":2}}.";

impl Filter {
    /// Reads the argument `filter` of a call: an object, or the same object as JSON text. `{}` matches everything.
    ///
    /// # Errors
    /// A sentence for the caller. It names the part of the filter, the problem and the remedy.
    ///
    /// ```
    /// use edge_mcp::json::{Document, JsonLimits};
    /// use edge_mcp::rag::{Fields, Filter};
    ///
    /// let fields = Fields::new().text("category", "Subject").number("version", "Release");
    /// let parse = |json: &str| {
    ///     let document = Document::parse(json.as_bytes(), JsonLimits::default()).unwrap();
    ///     Filter::parse(document.root(), &fields)
    /// };
    /// assert_eq!(parse(r#"{"version": {"$gt": 2}}"#).unwrap(), Filter::gt("version", 2));
    /// assert_eq!(
    ///     parse(r#"{"colour": "red"}"#).unwrap_err().message(),
    ///     "Argument `filter`: field `colour` is not declared. Declared fields: category, version."
    /// );
    /// ```
    pub fn parse(argument: Value<'_>, fields: &Fields) -> Result<Self, HandlerError> {
        let parsed = match argument.as_str() {
            Some(text) => of_text(&text, Some(fields)),
            None => of_value(argument, Some(fields)),
        };
        parsed.map_err(|problem| HandlerError::invalid(format!("Argument `filter`: {problem}")))
    }

    /// Reads a filter of the program from a JSON text. It can use every field.
    ///
    /// # Errors
    /// The text is not a filter. The error names the part of the filter, so it is for the log.
    ///
    /// ```
    /// use edge_mcp::rag::Filter;
    ///
    /// let filter = Filter::from_json(r#"{"status": "published", "version": {"$gte": 2}}"#)?;
    /// assert_eq!(filter, Filter::eq("status", "published").and(Filter::gte("version", 2)));
    /// # Ok::<_, edge_mcp::rag::FilterError>(())
    /// ```
    pub fn from_json(json: &str) -> Result<Self, FilterError> {
        of_text(json, None).map_err(|problem| FilterError(problem.into()))
    }
}

fn of_text(json: &str, fields: Option<&Fields>) -> Result<Filter, String> {
    check_length(json)?;
    let document = Document::parse(json.as_bytes(), LIMITS).map_err(|error| match error {
        JsonError::DuplicateKey { key } => {
            format!("the key {} occurs twice in an object. Use `$and` for several tests of a field.", quoted(&key))
        }
        JsonError::TooDeep { .. } => too_deep(),
        JsonError::Syntax { at } => format!("the text is not JSON (byte {at}). Send an object. {EXAMPLE}"),
        _ => format!("the text is not JSON. Send an object. {EXAMPLE}"),
    })?;
    of_value(document.root(), fields)
}

fn of_value(value: Value<'_>, fields: Option<&Fields>) -> Result<Filter, String> {
    check_length(value.text())?;
    let mut parser = Parser { fields, tests: 0, path: String::new() };
    let filter = Filter::of(match value.kind() {
        Kind::Object if value.members().next().is_none() => Expression::All(Vec::new()),
        _ => parser.filter(value, 1)?,
    });
    filter.check().map(|()| filter).map_err(|error| error.0.into())
}

/// Checks the length of a JSON text without the spaces between its parts.
fn check_length(json: &str) -> Result<(), String> {
    let (mut length, mut in_string, mut is_escaped) = (0_usize, false, false);
    for byte in json.bytes() {
        if in_string || !byte.is_ascii_whitespace() {
            length = length.saturating_add(1);
        }
        in_string ^= byte == b'"' && !is_escaped;
        is_escaped = in_string && byte == b'\\' && !is_escaped;
    }
    if length > FILTER_BYTES {
        return Err(format!(
            "the filter must have at most {FILTER_BYTES} bytes as JSON (got {length}). Use fewer tests or values."
        ));
    }
    Ok(())
}

fn too_deep() -> String {
    format!(
        "objects must be nested at most {FILTER_DEPTH} deep. Use `$in` for several values, and a path such as `author.name`."
    )
}

struct Parser<'f> {
    /// The fields that the filter can use. Without them, it can use every field.
    fields: Option<&'f Fields>,
    tests: usize,
    /// The path of the current value, for messages.
    path: String,
}

impl Parser<'_> {
    /// Reads an object whose members are fields and logical operators. All members must hold.
    ///
    /// In a filter of a caller, logical operators contain only fields, because the published schema has no recursion.
    fn filter(&mut self, object: Value<'_>, depth: usize) -> Result<Expression, String> {
        self.check_object(object, depth, "a filter: an object with fields")?;
        let mut all = Vec::new();
        for (name, value) in object.members() {
            let outer = self.enter(&name);
            all.push(match &*name {
                "$and" | "$or" | "$nor" | "$not" if depth > 1 && self.fields.is_some() => {
                    return Err(self.at(ONLY_FIELDS));
                }
                "$and" => Expression::All(self.filters(value, depth)?),
                "$or" => Expression::Any(self.filters(value, depth)?),
                "$nor" => not(Expression::Any(self.filters(value, depth)?)),
                "$not" => not(self.filter(value, depth.saturating_add(1))?),
                name if name.starts_with('$') => return Err(self.at(&misplaced(name))),
                name => self.field(&Field::parse(name)?, value, depth)?,
            });
            self.path.truncate(outer);
        }
        Ok(one_or_all(all))
    }

    /// Reads the list of a logical operator.
    fn filters(&mut self, list: Value<'_>, depth: usize) -> Result<Vec<Expression>, String> {
        if list.kind() != Kind::Array || list.items().next().is_none() {
            return Err(self.at(&format!("must be a list of at least one filter (got {}).", described(list))));
        }
        let mut filters = Vec::new();
        for (nth, item) in list.items().enumerate() {
            let outer = self.path.len();
            self.path.extend(["[", &nth.to_string(), "]"]);
            filters.push(self.filter(item, depth.saturating_add(1))?);
            self.path.truncate(outer);
        }
        Ok(filters)
    }

    /// Reads the test of a field: a value, a list of values, operators, or tests of nested fields.
    fn field(&mut self, field: &Field, value: Value<'_>, depth: usize) -> Result<Expression, String> {
        match value.kind() {
            Kind::Object => {}
            Kind::Array if value.items().next().is_none() => {
                return Err(
                    self.at("must have at least one value. Use {\"$exists\":false} for fields without a value.")
                );
            }
            Kind::Array => return self.operator(field, Operator::In, value, depth),
            _ => return self.operator(field, Operator::Eq, value, depth),
        }
        let names = || value.members().filter(|(name, _)| !name.starts_with('$'));
        if names().next().is_none() {
            return self.operators(field, value, depth.saturating_add(1));
        }
        if names().count() < value.members().count() {
            return Err(self.at("mixes operators and nested fields. Use `$and` with one filter for each."));
        }
        let depth = depth.saturating_add(1);
        self.check_object(value, depth, "an object")?;
        let mut all = Vec::new();
        for (name, value) in value.members() {
            let outer = self.enter(&name);
            all.push(self.field(&field.join(&name)?, value, depth)?);
            self.path.truncate(outer);
        }
        Ok(one_or_all(all))
    }

    /// Reads an object of operators. All of them must hold.
    fn operators(&mut self, field: &Field, object: Value<'_>, depth: usize) -> Result<Expression, String> {
        self.check_object(object, depth, "an object with operators")?;
        let mut all = Vec::new();
        for (name, operand) in object.members() {
            let outer = self.enter(&name);
            let operator = operator(&name, self.fields.is_some()).map_err(|problem| self.at(&problem))?;
            all.push(self.operator(field, operator, operand, depth)?);
            self.path.truncate(outer);
        }
        Ok(one_or_all(all))
    }

    /// Reads the operand of an operator.
    fn operator(
        &mut self,
        field: &Field,
        operator: Operator,
        operand: Value<'_>,
        depth: usize,
    ) -> Result<Expression, String> {
        let kind = self.declared(field)?;
        let is_null = operand.kind() == Kind::Null;
        let test = match operator {
            Operator::Not => return self.operators(field, operand, depth.saturating_add(1)).map(not),
            Operator::Eq | Operator::Ne if is_null => FieldTest::Exists,
            Operator::Eq | Operator::Ne => FieldTest::In(vec![self.scalar(operand, kind)?]),
            Operator::Compare(comparison) => self.comparison(comparison, operand, kind)?,
            Operator::In | Operator::Nin => FieldTest::In(self.list(operand, kind)?),
            Operator::Exists if operand.kind() == Kind::Boolean => FieldTest::Exists,
            Operator::Exists => return Err(self.at(&format!("must be true or false (got {}).", described(operand)))),
            Operator::Contains => FieldTest::Contains(self.scalar(operand, kind)?),
        };
        self.tests = self.tests.saturating_add(1);
        // A filter of the program has the limits of a combined filter.
        if self.fields.is_some() && self.tests > FILTER_TESTS {
            return Err(format!(
                "the filter must have at most {FILTER_TESTS} tests. Use `$in` for several values of a field."
            ));
        }
        let is_negated = match operator {
            Operator::Eq => is_null,
            Operator::Ne => !is_null,
            Operator::Nin => true,
            Operator::Exists => operand.text() == "false",
            _ => false,
        };
        let test = Expression::Test(field.clone(), test);
        Ok(if is_negated { not(test) } else { test })
    }

    /// Returns the declared type of a field. A filter of the program has no declared types.
    fn declared(&self, field: &Field) -> Result<Option<FieldType>, String> {
        let Some(fields) = self.fields else { return Ok(None) };
        match fields.find(field) {
            Some(declared) => Ok(Some(declared.kind)),
            None => Err(format!("field `{field}` is not declared. Declared fields: {fields}.")),
        }
    }

    fn comparison(
        &self,
        comparison: Comparison,
        operand: Value<'_>,
        kind: Option<FieldType>,
    ) -> Result<FieldTest, String> {
        if kind == Some(FieldType::Boolean) {
            return Err(self.at("cannot be used, because the field is a boolean and has no order. Use `$eq`."));
        }
        match self.scalar(operand, kind)? {
            Scalar::Boolean(_) => Err(self.at("must be a number or a string (got a boolean). Use `$eq`.")),
            value => Ok(FieldTest::Compare(comparison, value)),
        }
    }

    fn list(&mut self, list: Value<'_>, kind: Option<FieldType>) -> Result<Vec<Scalar>, String> {
        if list.kind() != Kind::Array {
            return Err(self.at(&format!("must be a list of values (got {}).", described(list))));
        }
        let count = list.items().count();
        if count > FILTER_LIST {
            return Err(self.at(&too_many_values(count)));
        }
        let mut values = Vec::new();
        for (nth, item) in list.items().enumerate() {
            let outer = self.path.len();
            self.path.extend(["[", &nth.to_string(), "]"]);
            values.push(self.scalar(item, kind)?);
            self.path.truncate(outer);
        }
        Ok(values)
    }

    /// Reads a value, which must have the declared type.
    fn scalar(&self, value: Value<'_>, kind: Option<FieldType>) -> Result<Scalar, String> {
        let scalar = match value.kind() {
            Kind::String => value.as_str().map(|text| Scalar::Text(text.into_owned())),
            Kind::Boolean => Some(Scalar::Boolean(value.text() == "true")),
            // A large integer is rounded, as in the metadata. A number that is out of range becomes infinite, which the check below rejects.
            Kind::Number => Some(Scalar::Number(float(value.text()))),
            Kind::Null | Kind::Array | Kind::Object => None,
        };
        let expected = kind.map_or("a string, a number or a boolean", FieldType::with_article);
        let Some(scalar) = scalar.filter(|scalar| kind.is_none_or(|kind| FieldType::of(scalar) == kind)) else {
            let remedy = match (value.kind(), kind) {
                (Kind::Null, _) => " Use {\"$exists\":false} for fields without a value.",
                (Kind::String, Some(_)) => " Remove the quotes.",
                (Kind::Number | Kind::Boolean, Some(FieldType::Text)) => " Add quotes.",
                _ => "",
            };
            return Err(self.at(&format!("must be {expected} (got {}).{remedy}", described(value))));
        };
        match scalar.problem() {
            Some(problem) => Err(self.at(&problem)),
            None => Ok(scalar),
        }
    }

    /// Checks that a value is an object with members, and that it is not nested too deeply.
    fn check_object(&self, value: Value<'_>, depth: usize, expected: &str) -> Result<(), String> {
        if value.kind() != Kind::Object || value.members().next().is_none() {
            return Err(self.at(&format!("must be {expected} (got {}). {EXAMPLE}", described(value))));
        }
        if depth > FILTER_DEPTH { Err(too_deep()) } else { Ok(()) }
    }

    /// Adds a name to the path, and returns the length of the path without it.
    fn enter(&mut self, name: &str) -> usize {
        let outer = self.path.len();
        let separator = if outer == 0 { "" } else { "." };
        self.path.extend([separator, &shortened(name)]);
        outer
    }

    /// Returns a sentence about the current value.
    fn at(&self, predicate: &str) -> String {
        if self.path.is_empty() { format!("the value {predicate}") } else { format!("`{}` {predicate}", self.path) }
    }
}

fn not(expression: Expression) -> Expression {
    Expression::Not(Box::new(expression))
}

fn one_or_all(mut all: Vec<Expression>) -> Expression {
    match all.pop() {
        Some(only) if all.is_empty() => only,
        last => {
            all.extend(last);
            Expression::All(all)
        }
    }
}

/// Returns the predicate of a sentence about an operator in place of a field.
fn misplaced(name: &str) -> String {
    match operator(name, true) {
        Ok(_) => format!("needs a field. Write {{\"field\":{{\"{name}\":…}}}}."),
        Err(_) => unsupported(name, "Operators outside of a field", "$and, $or, $nor, $not"),
    }
}

/// Returns the kind of a value with its article.
fn described(value: Value<'_>) -> &'static str {
    match value.kind() {
        Kind::Object if value.members().next().is_none() => "an empty object",
        Kind::Array if value.items().next().is_none() => "an empty list",
        kind => kind.with_article(),
    }
}
