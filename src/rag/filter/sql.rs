//! The condition for SQLite.
//!
//! The text of the condition depends only on the shape of the filter: which tests it has, and the types of their values. The values and
//! the paths of the fields are items of one JSON array, which is one bound parameter. So every filter needs exactly one of the parameters
//! of a statement, of which D1 allows 100.
//!
//! A test first asks for the type of the field. Only an array is opened with `json_each`, because `json_each` parses the metadata again.

use edge_json::write;
use serde_json::{Number, Value};

use super::expression::{Comparison, Expression, FieldTest, Filter, FilterError, Scalar};
use super::fields::FieldType;

/// A condition for the `WHERE` clause of a statement in SQLite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlCondition {
    /// The condition. It is never NULL, and contains no value of the filter.
    pub text: String,
    /// The value of its parameter: a JSON array, as text.
    pub values: String,
}

impl Filter {
    /// Returns the condition under which a row matches. `column` is the column with the metadata, as a JSON object in the text form
    /// or the binary form of SQLite.
    /// `parameter` is the number of the parameter that the caller binds to [`SqlCondition::values`].
    ///
    /// # Errors
    /// The filter is invalid.
    ///
    /// ```
    /// use edge_mcp::rag::Filter;
    ///
    /// let condition = Filter::eq("status", "published").to_sql("documents.metadata", 2)?;
    /// let statement = format!("SELECT id FROM documents WHERE space = ?1 AND {}", condition.text);
    /// assert_eq!(condition.values, r#"["$.\"status\"",["published"]]"#);
    /// # Ok::<_, edge_mcp::rag::FilterError>(())
    /// ```
    pub fn to_sql(&self, column: &'static str, parameter: u8) -> Result<SqlCondition, FilterError> {
        let mut writer = Writer { column, parameter, text: String::new(), values: Vec::new() };
        writer.expression(self.expression()?);
        Ok(SqlCondition { text: writer.text, values: write::text(&Value::Array(writer.values)) })
    }
}

struct Writer {
    column: &'static str,
    parameter: u8,
    text: String,
    values: Vec<Value>,
}

/// The types that `json_type` and `json_each` report for elements.
const ELEMENT: &str = "IN ('text', 'integer', 'real', 'true', 'false')";
const NUMBER: &str = "IN ('integer', 'real')";

impl Writer {
    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::All(inner) => self.joined(&distinct(inner), "AND", "1"),
            Expression::Any(inner) => self.joined(&distinct(inner), "OR", "0"),
            Expression::Not(inner) => {
                self.text.push_str("NOT ");
                self.expression(inner);
            }
            Expression::Test(field, test) => {
                let path = self.value(field.json_path().into());
                self.test(&format!("?{}->>'$[{path}]'", self.parameter), test);
            }
        }
    }

    /// Writes the expressions with an operator between them. SQLite limits the depth of expressions, and `a OR b OR c` has the depth of
    /// `(a OR b) OR c`. So each half gets its parentheses.
    fn joined(&mut self, expressions: &[&Expression], operator: &str, without: &str) {
        match expressions {
            [] => self.text.push_str(without),
            [one] => self.expression(one),
            several => {
                let (first, second) = several.split_at(several.len() / 2);
                self.text.push('(');
                self.joined(first, operator, without);
                self.text.extend([" ", operator, " "]);
                self.joined(second, operator, without);
                self.text.push(')');
            }
        }
    }

    /// Writes a test of the field at `path`, which is an expression of SQLite.
    fn test(&mut self, path: &str, test: &FieldTest) {
        let lists = self.lists(test);
        let of_item = self.condition(test, &lists);
        let of_value = match (test, lists.as_slice()) {
            (FieldTest::Contains(Scalar::Text(_)), [(_, list)]) => {
                format!("item.type = 'text' AND instr(item.value, {}) > 0", self.first_of(*list))
            }
            (FieldTest::Contains(_), _) => "0".into(),
            _ => of_item.clone(),
        };
        let field = format!("{}, {path}", self.column);
        self.text.extend([
            format!("CASE json_type({field}) WHEN 'array' "),
            format!("THEN EXISTS (SELECT 1 FROM json_each({field}) AS item WHERE {of_item}) "),
            format!("ELSE EXISTS (SELECT 1 FROM (SELECT json_type({field}) AS type, json_extract({field}) AS value) AS item "),
            format!("WHERE {of_value}) END"),
        ]);
    }

    /// Adds the values of a test to the parameter, as one list for each type. Returns the types and the indices of the lists.
    fn lists(&mut self, test: &FieldTest) -> Vec<(FieldType, usize)> {
        let values = match test {
            FieldTest::In(values) => values.as_slice(),
            FieldTest::Compare(_, value) | FieldTest::Contains(value) => std::slice::from_ref(value),
            FieldTest::Exists => &[],
        };
        let mut lists = Vec::new();
        for kind in [FieldType::Text, FieldType::Number, FieldType::Boolean] {
            let of_kind = values.iter().filter(|value| FieldType::of(value) == kind);
            let list: Vec<Value> = of_kind.map(to_json).collect();
            if !list.is_empty() {
                lists.push((kind, self.value(list.into())));
            }
        }
        lists
    }

    /// Returns the condition for an element with the columns `item.type` and `item.value`.
    fn condition(&self, test: &FieldTest, lists: &[(FieldType, usize)]) -> String {
        let of_type = |(kind, list): &(FieldType, usize)| match (test, kind) {
            (FieldTest::Compare(comparison, _), FieldType::Number) => {
                let (sign, limit) = (sign(*comparison), self.first_of(*list));
                format!("item.type {NUMBER} AND CAST(item.value AS REAL) {sign} CAST({limit} AS REAL)")
            }
            (FieldTest::Compare(comparison, _), _) => {
                format!("item.type = 'text' AND item.value {} {}", sign(*comparison), self.first_of(*list))
            }
            (_, FieldType::Text) => format!("item.type = 'text' AND item.value IN {}", self.items_of(*list, "value")),
            (_, FieldType::Number) => {
                let numbers = self.items_of(*list, "CAST(value AS REAL)");
                format!("item.type {NUMBER} AND CAST(item.value AS REAL) IN {numbers}")
            }
            (_, FieldType::Boolean) => format!("item.type IN {}", self.items_of(*list, "value")),
        };
        match test {
            FieldTest::Exists => format!("item.type {ELEMENT}"),
            _ if lists.is_empty() => "0".into(),
            _ => lists.iter().map(of_type).collect::<Vec<_>>().join(" OR "),
        }
    }

    /// Adds a value to the parameter, and returns its index.
    fn value(&mut self, value: Value) -> usize {
        self.values.push(value);
        self.values.len().saturating_sub(1)
    }

    fn first_of(&self, list: usize) -> String {
        format!("?{}->>'$[{list}][0]'", self.parameter)
    }

    fn items_of(&self, list: usize, column: &str) -> String {
        format!("(SELECT {column} FROM json_each(?{}, '$[{list}]'))", self.parameter)
    }
}

/// Returns the expressions without repetitions, because the database would evaluate each of them for each document.
fn distinct(expressions: &[Expression]) -> Vec<&Expression> {
    let is_first =
        |(nth, expression): &(usize, &Expression)| !expressions.iter().take(*nth).any(|other| other == *expression);
    expressions.iter().enumerate().filter(is_first).map(|(_, expression)| expression).collect()
}

fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Greater => ">",
        Comparison::AtLeast => ">=",
        Comparison::Less => "<",
        Comparison::AtMost => "<=",
    }
}

/// Converts a value for the parameter. SQLite converts booleans to numbers, so a boolean is the name of its type.
fn to_json(value: &Scalar) -> Value {
    match value {
        Scalar::Text(text) => text.as_str().into(),
        // Filters have only finite numbers.
        Scalar::Number(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
        Scalar::Boolean(boolean) => if *boolean { "true" } else { "false" }.into(),
    }
}
