//! Deserializes the variables of a URI template.
//!
//! serde's deserializer of strings produces only strings. Here a field may also be a number, a boolean, an `Option` or
//! a unit enum, as in a query string.

use std::collections::BTreeMap;

use edge_json::number::Number;
use edge_json::type_error::TypeError;
use serde::Deserializer;
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

/// Deserializes the variables into a `V`: a map, or a struct whose fields have the names of the variables.
///
/// # Errors
/// A variable is missing, or does not have the type of its field.
pub(super) fn read<V: DeserializeOwned>(variables: BTreeMap<String, String>) -> Result<V, TypeError> {
    V::deserialize(MapDeserializer::new(variables.into_iter().map(|(name, value)| (name, Variable(value)))))
}

struct Variable(String);

impl IntoDeserializer<'_, TypeError> for Variable {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl Variable {
    /// Parses the value as a Rust integer, or else as a JSON number.
    #[inline(never)]
    fn number(&self) -> Result<Number, TypeError> {
        let integer = self.0.parse().map(Number::Unsigned).or_else(|_| self.0.parse().map(Number::Signed));
        integer.ok().or_else(|| Number::of_text(&self.0)).ok_or_else(|| TypeError::custom("expected a number"))
    }
}

macro_rules! numbers {
    ($($method:ident),*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
            self.number()?.visit(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Variable {
    type Error = TypeError;

    numbers! {
        deserialize_i8, deserialize_i16, deserialize_i32, deserialize_i64, deserialize_u8, deserialize_u16,
        deserialize_u32, deserialize_u64, deserialize_f32, deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        visitor.visit_bool(self.0.parse().map_err(|_| TypeError::custom("expected true or false"))?)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        visitor.visit_string(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        visitor.visit_some(self)
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
        self.0.into_deserializer().deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Status {
        Draft,
        Final,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Page {
        name: String,
        number: u32,
        scale: Option<f64>,
        kind: Status,
        raw: Option<bool>,
    }

    fn page(pairs: &[(&str, &str)]) -> Result<Page, TypeError> {
        read(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn variables_are_converted_to_the_types_of_the_fields() {
        let good = [("name", "7"), ("number", "7"), ("scale", "0.5"), ("kind", "draft")];
        let expected = Page { name: "7".into(), number: 7, scale: Some(0.5), kind: Status::Draft, raw: None };
        assert_eq!(page(&good).ok(), Some(expected));
        let with = |name: &'static str, value: &'static str| {
            let pairs: Vec<_> = good.iter().map(|pair| if pair.0 == name { (name, value) } else { *pair }).collect();
            page(&pairs)
        };
        assert_eq!(with("kind", "final").ok().map(|page| page.kind), Some(Status::Final));
        for (name, value) in [
            ("number", "-1"),
            ("number", "x"),
            ("number", ""),
            ("number", "7.5"),
            ("number", "4294967296"),
            ("scale", "wide"),
            ("kind", "Draft"),
        ] {
            assert!(with(name, value).is_err(), "{name}={value}");
        }
        assert!(page(&good[1..]).is_err(), "`name` is required");
        assert!(page(&[good.as_slice(), &[("raw", "yes")]].concat()).is_err());
    }
}
