//! Readers for the values of keywords. Each returns an error with the keyword if the value has the wrong type.

use serde_json::{Map, Value};

use super::error::SchemaError;
use super::program::Number;
use super::types::{Type, Types};
use edge_json::decimal::Decimal;
use edge_json::short_decimal::ShortDecimal;
use edge_json::write;

pub(crate) fn must_be(what: &str, keyword: &str) -> Box<SchemaError> {
    SchemaError::of_keyword(keyword, format!("the value must be {what}"))
}

pub(crate) fn array<'v>(value: &'v Value, keyword: &str) -> Result<&'v Vec<Value>, Box<SchemaError>> {
    value.as_array().ok_or_else(|| must_be("an array", keyword))
}

pub(crate) fn members<'v>(value: &'v Value, keyword: &str) -> Result<&'v Map<String, Value>, Box<SchemaError>> {
    value.as_object().ok_or_else(|| must_be("an object", keyword))
}

pub(crate) fn boolean(value: &Value, keyword: &str) -> Result<bool, Box<SchemaError>> {
    value.as_bool().ok_or_else(|| must_be("true or false", keyword))
}

pub(crate) fn string<'v>(value: &'v Value, keyword: &str) -> Result<&'v str, Box<SchemaError>> {
    value.as_str().ok_or_else(|| must_be("a string", keyword))
}

pub(crate) fn strings<'v>(value: &'v Value, keyword: &str) -> Result<Vec<&'v str>, Box<SchemaError>> {
    let mut strings = Vec::new();
    for item in array(value, keyword)? {
        strings.push(item.as_str().ok_or_else(|| must_be("an array of strings", keyword))?);
    }
    Ok(strings)
}

pub(crate) fn types(value: &Value, keyword: &str) -> Result<Types, Box<SchemaError>> {
    let names = match value {
        Value::String(name) => vec![name.as_str()],
        _ => strings(value, keyword)?,
    };
    names.iter().try_fold(Types::NONE, |types, name| match Type::named(name) {
        Some(known) => Ok(types.with(known)),
        None => Err(SchemaError::of_keyword(keyword, format!("unknown type `{name}`"))),
    })
}

pub(crate) fn number(value: &Value, keyword: &str, is_float: bool) -> Result<Number, Box<SchemaError>> {
    if !value.is_number() {
        return Err(must_be("a number", keyword));
    }
    let text = write::text(value);
    Ok(Number { exact: Decimal::of(&text), short: ShortDecimal::of(&text), is_float })
}

pub(crate) fn positive_number(value: &Value, keyword: &str, is_float: bool) -> Result<Number, Box<SchemaError>> {
    let number = number(value, keyword, is_float)?;
    if number.exact > Decimal::ZERO { Ok(number) } else { Err(must_be("a number greater than 0", keyword)) }
}

/// Reads a non-negative integer. `2.0` is an integer, too.
pub(crate) fn count(value: &Value, keyword: &str) -> Result<u64, Box<SchemaError>> {
    let whole = || value.as_f64().filter(|number| number.fract() == 0.0 && (0.0..9e15).contains(number));
    // In this range every integer f64 is a u64.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let number = value.as_u64().or_else(|| whole().map(|number| number as u64));
    number.ok_or_else(|| must_be("a non-negative integer", keyword))
}
