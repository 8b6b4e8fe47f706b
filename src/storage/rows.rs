//! The rows of a statement.

use edge_json::number::Number;
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
fn rows<'d>(
    document: &'d Document<'d>,
) -> Result<impl Iterator<Item = Result<RowDeserializer<'d>, DatabaseError>>, DatabaseError> {
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
        let row = RowDeserializer { columns, cells };
        match row.cells().find(|cell| is_rounded(cell.value)) {
            Some(CellDeserializer { column, .. }) => {
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
    // Shorter numbers without an exponent are smaller, and most numbers are.
    let text = value.text();
    if value.kind() != Kind::Number || (text.len() <= 15 && !text.contains(['e', 'E'])) {
        return false;
    }
    match Number::of(text) {
        Some(Number::Unsigned(number)) => number > MOST_INTEGER.unsigned_abs(),
        Some(Number::Signed(number)) => number.unsigned_abs() > MOST_INTEGER.unsigned_abs(),
        #[allow(clippy::cast_precision_loss, reason = "2^53 - 1 is exact")]
        Some(Number::Float(number)) => number.abs() > MOST_INTEGER as f64,
        None => true,
    }
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

#[derive(Clone, Copy)]
struct RowDeserializer<'d> {
    columns: Value<'d>,
    cells: Value<'d>,
}

impl<'d> RowDeserializer<'d> {
    fn cells(self) -> impl Iterator<Item = CellDeserializer<'d>> {
        self.columns.items().zip(self.cells.items()).map(|(column, value)| CellDeserializer { column, value })
    }

    /// Returns the only cell. A row with another number of columns is an error.
    fn only(self) -> Result<CellDeserializer<'d>, TypeError> {
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

impl<'de> Deserializer<'de> for RowDeserializer<'de> {
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
struct CellDeserializer<'d> {
    column: Value<'d>,
    value: Value<'d>,
}

impl CellDeserializer<'_> {
    fn in_column(self, error: TypeError) -> TypeError {
        error.inside(PathSegment::Member(self.column.as_str().unwrap_or_default().into_owned()))
    }
}

impl<'de> IntoDeserializer<'de, TypeError> for CellDeserializer<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for CellDeserializer<'de> {
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

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    fn one<T: DeserializeOwned>(columns: &str, row: &str) -> Result<T, String> {
        let rows = Rows::new(format!("[0,[{columns}],[{row}]]"));
        rows.first().map(|first| first.expect("a row")).map_err(|error| error.to_string())
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum State {
        Open,
        Done,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Id(i64);

    #[derive(Debug, PartialEq, Deserialize)]
    struct Note {
        id: Id,
        title: String,
        stars: Option<f32>,
        is_done: bool,
        is_old: Option<bool>,
        state: State,
        picture: Vec<u8>,
    }

    #[test]
    fn a_row_is_read_into_a_struct() {
        let columns = r#""title","id","stars","is_done","is_old","state","picture","further""#;
        let note = one::<Note>(columns, r#""Tea",7,null,1,0,"done",[1,255],"x""#);
        let expected = Note {
            id: Id(7),
            title: "Tea".into(),
            stars: None,
            is_done: true,
            is_old: Some(false),
            state: State::Done,
            picture: vec![1, 255],
        };
        assert_eq!(note, Ok(expected));
        assert_eq!(
            one::<Note>(columns, r#""Tea",7,2,2,0,"open",[],"x""#),
            Err("a row of the database does not have the expected type in the column `is_done`: expected 0 or 1".into())
        );
        let missing = one::<Note>(r#""id""#, "7").expect_err("a column is missing");
        assert!(missing.contains("missing field `title`"), "{missing}");
    }

    #[test]
    fn a_row_is_read_into_a_tuple_or_a_value() {
        assert_eq!(one(r#""a","b","c""#, r#"1,"x",0"#), Ok((1_u8, "x".to_owned(), false)));
        assert_eq!(one(r#""a""#, "5"), Ok(5_u64));
        assert_eq!(one(r#""a""#, "5"), Ok(Id(5)));
        assert_eq!(one(r#""a""#, "0.5"), Ok(0.5_f64));
        assert_eq!(one(r#""a""#, r#""open""#), Ok(State::Open));
        assert_eq!(one(r#""a""#, r#""x""#), Ok(Some("x".to_owned())));
        assert_eq!(one(r#""a""#, "null"), Ok(None::<String>));
        assert_eq!(one(r#""a""#, "1"), Ok(true));
        assert_eq!(one(r#""a""#, "[1,2]"), Ok((vec![1_u8, 2],)));
        for (columns, row) in [(r#""a","b""#, "1,2"), (r#""a""#, r#""x""#), (r#""a""#, "-1"), (r#""a""#, "0.5")] {
            assert!(one::<u64>(columns, row).is_err(), "{row}");
        }
        assert!(one::<(u8,)>(r#""a","b""#, "1,2").is_err(), "a column is left over");
        assert!(one::<(u8, u8)>(r#""a""#, "1").is_err(), "a column is missing");
    }

    #[test]
    fn a_result_that_is_not_one_is_an_error() {
        for json in ["", "{}", "[]", "[0]", "[-1,[]]", "[null,[]]"] {
            let rows = Rows::new(json.to_owned());
            assert!(rows.changes().is_err() || rows.all::<u8>().is_err(), "{json}");
        }
        assert_eq!(Rows::new("[3,[]]".into()).changes(), Ok(3));
        assert_eq!(Rows::new("[0,[\"a\"]]".into()).first::<u8>(), Ok(None));
    }
}
