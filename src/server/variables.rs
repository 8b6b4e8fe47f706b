//! Reading strings into a type: the variables of a URI template.
//!
//! serde's own deserializer of strings gives strings alone. Here a field may also be a number, a boolean, an `Option` or a
//! unit enum, as it may in a query string.

use std::collections::BTreeMap;

use serde::Deserializer;
use serde::de::value::{Error, MapDeserializer};
use serde::de::{DeserializeOwned, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

/// The variables as a `V`: a map, or a struct whose fields have their names.
///
/// # Errors
/// One is missing, or is not of its field's type.
pub(super) fn read<V: DeserializeOwned>(variables: BTreeMap<String, String>) -> Result<V, Error> {
    V::deserialize(MapDeserializer::new(variables.into_iter().map(|(name, value)| (name, Variable(value)))))
}

struct Variable(String);

impl IntoDeserializer<'_> for Variable {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! parsed {
    ($($method:ident $visit:ident $expected:literal),*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.$visit(self.0.parse().map_err(|_| Error::custom(concat!("expected ", $expected)))?)
        }
    )*};
}

impl<'de> Deserializer<'de> for Variable {
    type Error = Error;

    parsed! {
        deserialize_bool visit_bool "true or false",
        deserialize_i8 visit_i8 "a number", deserialize_i16 visit_i16 "a number", deserialize_i32 visit_i32 "a number",
        deserialize_i64 visit_i64 "a number", deserialize_u8 visit_u8 "a number", deserialize_u16 visit_u16 "a number",
        deserialize_u32 visit_u32 "a number", deserialize_u64 visit_u64 "a number", deserialize_f32 visit_f32 "a number",
        deserialize_f64 visit_f64 "a number"
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_string(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
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
    enum Kind {
        Draft,
        Final,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Page {
        name: String,
        number: u32,
        scale: Option<f64>,
        kind: Kind,
        raw: Option<bool>,
    }

    fn page(pairs: &[(&str, &str)]) -> Result<Page, Error> {
        read(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn fields_have_their_types() {
        let good = [("name", "7"), ("number", "7"), ("scale", "0.5"), ("kind", "draft")];
        let expected = Page { name: "7".into(), number: 7, scale: Some(0.5), kind: Kind::Draft, raw: None };
        assert_eq!(page(&good), Ok(expected));
        let with = |name: &'static str, value: &'static str| {
            let pairs: Vec<_> = good.iter().map(|pair| if pair.0 == name { (name, value) } else { *pair }).collect();
            page(&pairs)
        };
        assert_eq!(with("kind", "final").map(|page| page.kind), Ok(Kind::Final));
        for (name, value) in [("number", "-1"), ("number", "x"), ("number", ""), ("scale", "wide"), ("kind", "Draft")] {
            assert!(with(name, value).is_err(), "{name}={value}");
        }
        assert!(page(&good[1..]).is_err(), "a name is needed");
        assert!(page(&[good.as_slice(), &[("raw", "yes")]].concat()).is_err());
    }
}
