//! The rows of a statement.

use edge_json::type_error::{PathSegment, TypeError};
use edge_json::{Document, JsonLimits, Kind, Value};
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::error::{DatabaseError, DatabaseFailure};
use super::value::MOST_INTEGER;

/// The rows that a statement of a batch returned, and the number of rows that it changed.
#[derive(Clone, Debug)]
pub struct Rows {
    /// `[changes, columns, row, …]` as JSON.
    json: String,
}

impl Rows {
    pub(super) fn new(json: String) -> Self {
        Self { json }
    }

    /// Returns the number of rows that the statement inserted, updated or deleted, as [`Statement::run`](super::Statement::run) does.
    ///
    /// # Errors
    /// The database did not return a number.
    pub fn changes(&self) -> Result<u64, DatabaseError> {
        let document = self.parse()?;
        let changes = document.root().items().next().map(|changes| changes.text().parse());
        changes.and_then(Result::ok).ok_or_else(malformed)
    }

    /// Reads all rows. [`Statement::all`](super::Statement::all) describes the types of rows.
    ///
    /// # Errors
    /// A row is not a `T`, or a number is beyond 2^53 − 1.
    pub fn all<T: DeserializeOwned>(&self) -> Result<Vec<T>, DatabaseError> {
        let document = self.parse()?;
        let mut read = Vec::new();
        for row in rows(&document)? {
            read.push(T::deserialize(row?).map_err(mismatch)?);
        }
        Ok(read)
    }

    /// Reads the first row, or returns `None` if there are no rows.
    ///
    /// # Errors
    /// See [`all`](Self::all).
    pub fn first<T: DeserializeOwned>(&self) -> Result<Option<T>, DatabaseError> {
        let document = self.parse()?;
        let Some(row) = rows(&document)?.next() else { return Ok(None) };
        T::deserialize(row?).map(Some).map_err(mismatch)
    }

    fn parse(&self) -> Result<Document<'_>, DatabaseError> {
        Document::parse(self.json.as_bytes(), JsonLimits::MOST).map_err(|_| malformed())
    }
}

/// Returns the rows of a result. A row with a number that D1 may have rounded is an error.
fn rows<'d>(document: &'d Document<'d>) -> Result<impl Iterator<Item = Result<Row<'d>, DatabaseError>>, DatabaseError> {
    let mut items = document.root().items().skip(1);
    let columns = items.next().ok_or_else(malformed)?;
    let names: Vec<_> = columns.items().filter_map(Value::as_str).collect();
    if let Some((name, _)) =
        names.iter().zip(1_usize..).find(|(name, after)| names.iter().skip(*after).any(|other| other == *name))
    {
        let cause = format!("two columns of a statement have the name `{name}`: name them with AS");
        return Err(DatabaseError::new(DatabaseFailure::Statement, cause));
    }
    Ok(items.map(move |cells| {
        let row = Row { columns, cells };
        match row.cells().find(|cell| is_rounded(cell.value)) {
            Some(Cell { column, .. }) => {
                let name = column.as_str().unwrap_or_default();
                let cause = format!("the column `{name}` has a number beyond 2^53 - 1: store it as text");
                Err(DatabaseError::new(DatabaseFailure::Row, cause))
            }
            None => Ok(row),
        }
    }))
}

/// Returns whether a cell has a number that JavaScript cannot represent exactly.
fn is_rounded(value: Value<'_>) -> bool {
    #[allow(clippy::cast_precision_loss, reason = "2^53 - 1 is exact")]
    let most = MOST_INTEGER as f64;
    // Shorter numbers without an exponent are smaller, and most numbers are.
    let text = value.text();
    let is_short = text.len() <= 15 && !text.contains(['e', 'E']);
    value.kind() == Kind::Number && !is_short && text.parse::<f64>().is_ok_and(|number| number.abs() > most)
}

fn malformed() -> DatabaseError {
    DatabaseError::new(DatabaseFailure::Unavailable, "the database returned a malformed result")
}

fn mismatch(error: TypeError) -> DatabaseError {
    let column = error.path().find_map(|segment| match segment {
        PathSegment::Member(name) => Some(format!(" in the column `{name}`")),
        PathSegment::Item(_) => None,
    });
    let cause = format!("a row of the database does not have the expected type{}: {error}", column.unwrap_or_default());
    DatabaseError::new(DatabaseFailure::Row, cause)
}

/// The serde deserializer of a row.
#[derive(Clone, Copy)]
struct Row<'d> {
    columns: Value<'d>,
    cells: Value<'d>,
}

impl<'d> Row<'d> {
    fn cells(self) -> impl Iterator<Item = Cell<'d>> {
        self.columns.items().zip(self.cells.items()).map(|(column, value)| Cell { column, value })
    }

    /// Returns the only cell. A row with another number of columns is an error.
    fn only(self) -> Result<Cell<'d>, TypeError> {
        let mut cells = self.cells();
        match (cells.next(), cells.next()) {
            (Some(cell), None) => Ok(cell),
            _ => Err(TypeError::custom("expected a row with one column")),
        }
    }
}

/// Methods that read the only cell of a row.
macro_rules! only {
    ($($method:ident),*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
            self.only()?.$method(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Row<'de> {
    type Error = TypeError;

    forward_to_deserialize_any! { char identifier ignored_any map struct unit unit_struct }

    only! {
        deserialize_bool, deserialize_i8, deserialize_i16, deserialize_i32, deserialize_i64, deserialize_u8, deserialize_u16,
        deserialize_u32, deserialize_u64, deserialize_f32, deserialize_f64, deserialize_str, deserialize_string,
        deserialize_bytes, deserialize_byte_buf
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        let named = self.cells().map(|cell| (cell.column.as_str().unwrap_or_default(), cell));
        visitor.visit_map(MapDeserializer::new(named))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        let mut cells = SeqDeserializer::new(self.cells());
        let read = visitor.visit_seq(&mut cells)?;
        cells.end().map(|()| read)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, TypeError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        self.deserialize_seq(visitor)
    }

    /// `None` is a row whose only cell is NULL.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match self.only() {
            Ok(cell) => cell.deserialize_option(visitor),
            Err(_) => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, TypeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        self.only()?.deserialize_enum(name, variants, visitor)
    }
}

/// The value of a column of a row.
#[derive(Clone, Copy)]
struct Cell<'d> {
    column: Value<'d>,
    value: Value<'d>,
}

impl Cell<'_> {
    /// Adds the column to an error.
    fn in_column(self, error: TypeError) -> TypeError {
        error.inside(PathSegment::Member(self.column.as_str().unwrap_or_default().into_owned()))
    }
}

impl<'de> IntoDeserializer<'de, TypeError> for Cell<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Cell<'de> {
    type Error = TypeError;

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map
        struct identifier ignored_any
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        self.value.deserializer().deserialize_any(visitor).map_err(|error| self.in_column(error))
    }

    /// SQL has no type for truth values.
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match self.value.text() {
            "0" => visitor.visit_bool(false),
            "1" => visitor.visit_bool(true),
            _ => Err(self.in_column(TypeError::custom("expected 0 or 1"))),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        if self.value.kind() == Kind::Null { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, TypeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        self.value.deserializer().deserialize_enum(name, variants, visitor).map_err(|error| self.in_column(error))
    }
}
