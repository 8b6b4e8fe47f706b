//! Serialization to JSON, into bytes.
//!
//! serde_json's serializer is generic over a writer and a formatter. It escapes a string byte by byte, and calls `memcpy` for each quote
//! and comma. This serializer writes strings eight bytes at a time, and uses one type for all values with members. A wasm module is
//! 7 KB smaller with it.

use serde::ser::{self, Error as _, Serialize};
use serde_json::{Error, Result};

use super::quoted;

/// The name by which serde_json recognizes a `RawValue`. It is a private detail of serde_json; a test checks it.
pub(super) const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// The position of a value, which decides how it is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Value,
    /// The name of a member: a string, or a number or a boolean in quotes.
    Key,
    /// JSON text that is written unchanged.
    Raw,
}

/// Writes one value.
pub(super) struct Serializer<'o> {
    out: &'o mut Vec<u8>,
    place: Place,
}

impl<'o> Serializer<'o> {
    pub(super) fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out, place: Place::Value }
    }

    /// Writes a number, a boolean or `null`.
    #[expect(clippy::unnecessary_wraps, reason = "the methods that call it return a result")]
    fn literal(self, literal: &[u8]) -> Result<()> {
        let is_key = self.place == Place::Key;
        if is_key {
            self.out.push(b'"');
        }
        self.out.extend_from_slice(literal);
        if is_key {
            self.out.push(b'"');
        }
        Ok(())
    }

    /// Begins an array or an object. `open` is the opening bracket, and `close` is the text after the last member.
    fn members(self, open: u8, close: &'static [u8]) -> Result<MemberWriter<'o>> {
        self.require_value()?;
        self.out.push(open);
        Ok(MemberWriter { out: self.out, is_empty: true, close, place: Place::Value })
    }

    /// Begins a variant of an enum with members: an object with the name of the variant.
    fn variant(self, name: &str, open: u8, close: &'static [u8]) -> Result<MemberWriter<'o>> {
        self.require_value()?;
        self.out.push(b'{');
        quoted::append(self.out, name);
        self.out.push(b':');
        Serializer::new(self.out).members(open, close)
    }

    /// Returns an error in the place of a name: `null`, arrays and objects cannot be names.
    fn require_value(&self) -> Result<()> {
        if self.place == Place::Value { Ok(()) } else { Err(Error::custom("the name of a member must be a string")) }
    }
}

/// Writes the members of an array or an object.
pub(super) struct MemberWriter<'o> {
    out: &'o mut Vec<u8>,
    is_empty: bool,
    close: &'static [u8],
    place: Place,
}

impl MemberWriter<'_> {
    fn next(&mut self) {
        if !self.is_empty {
            self.out.push(b',');
        }
        self.is_empty = false;
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        value.serialize(Serializer { out: self.out, place: self.place })
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.next();
        self.value(value)
    }

    /// Begins a member of a struct.
    fn name(&mut self, name: &str) {
        if self.place == Place::Value {
            self.next();
            quoted::append(self.out, name);
            self.out.push(b':');
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "the methods that call it return a result")]
    fn finish(self) -> Result<()> {
        self.out.extend_from_slice(self.close);
        Ok(())
    }
}

macro_rules! integers {
    ($($method:ident: $type:ty),*) => {$(
        fn $method(self, value: $type) -> Result<()> {
            self.literal(itoa::Buffer::new().format(value).as_bytes())
        }
    )*};
}

/// JSON cannot represent NaN and the infinities: they become `null`.
macro_rules! floats {
    ($($method:ident: $type:ty),*) => {$(
        fn $method(self, value: $type) -> Result<()> {
            if !value.is_finite() {
                return self.serialize_unit();
            }
            self.literal(zmij::Buffer::new().format_finite(value).as_bytes())
        }
    )*};
}

impl<'o> ser::Serializer for Serializer<'o> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = MemberWriter<'o>;
    type SerializeTuple = MemberWriter<'o>;
    type SerializeTupleStruct = MemberWriter<'o>;
    type SerializeTupleVariant = MemberWriter<'o>;
    type SerializeMap = MemberWriter<'o>;
    type SerializeStruct = MemberWriter<'o>;
    type SerializeStructVariant = MemberWriter<'o>;

    integers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128
    }

    fn serialize_bool(self, value: bool) -> Result<()> {
        self.literal(if value { b"true" } else { b"false" })
    }

    floats! { serialize_f32: f32, serialize_f64: f64 }

    fn serialize_char(self, value: char) -> Result<()> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<()> {
        if self.place == Place::Raw {
            self.out.extend_from_slice(value.as_bytes());
        } else {
            quoted::append(self.out, value);
        }
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<()> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<()> {
        self.require_value()?;
        self.literal(b"null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<()> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        let mut members = self.members(b'{', b"}")?;
        members.name(variant);
        members.value(value)?;
        members.finish()
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<MemberWriter<'o>> {
        self.members(b'[', b"]")
    }

    fn serialize_tuple(self, _: usize) -> Result<MemberWriter<'o>> {
        self.members(b'[', b"]")
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<MemberWriter<'o>> {
        self.members(b'[', b"]")
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<MemberWriter<'o>> {
        self.variant(variant, b'[', b"]}")
    }

    fn serialize_map(self, _: Option<usize>) -> Result<MemberWriter<'o>> {
        self.members(b'{', b"}")
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<MemberWriter<'o>> {
        if name == RAW_VALUE {
            self.require_value()?;
            return Ok(MemberWriter { out: self.out, is_empty: true, close: b"", place: Place::Raw });
        }
        self.members(b'{', b"}")
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<MemberWriter<'o>> {
        self.variant(variant, b'{', b"}}")
    }
}

macro_rules! items {
    ($($trait:ident::$method:ident),*) => {$(
        impl ser::$trait for MemberWriter<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
                self.item(value)
            }

            fn end(self) -> Result<()> {
                self.finish()
            }
        }
    )*};
}

items!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

macro_rules! fields {
    ($($trait:ident),*) => {$(
        impl ser::$trait for MemberWriter<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<()> {
                self.name(name);
                self.value(value)
            }

            fn end(self) -> Result<()> {
                self.finish()
            }
        }
    )*};
}

fields!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for MemberWriter<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.next();
        key.serialize(Serializer { out: self.out, place: Place::Key })
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.out.push(b':');
        self.value(value)
    }

    fn end(self) -> Result<()> {
        self.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use crate::write::to_string;

    #[derive(Serialize)]
    enum Variant {
        Unit,
        Newtype(u8),
        Tuple(i16, String),
        Struct { a: Option<i128>, b: &'static str },
        EmptyTuple(),
    }

    #[derive(Serialize)]
    struct Unit;

    #[derive(Serialize)]
    struct Newtype(f32);

    #[derive(Serialize)]
    struct Tuple(u64, char, bool);

    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Everything {
        unit: (),
        unit_struct: Unit,
        newtype: Newtype,
        tuple: Tuple,
        variants: Vec<Variant>,
        #[serde(flatten)]
        rest: BTreeMap<&'static str, u8>,
        #[serde(skip_serializing_if = "Option::is_none")]
        none: Option<u8>,
        some: Option<&'static str>,
        numbers: [f64; 9],
        raw: Box<serde_json::value::RawValue>,
        empty: [u8; 0],
    }

    fn check(value: &(impl Serialize + ?Sized)) {
        assert_eq!(to_string(&value).expect("serializes"), serde_json::to_string(&value).expect("serializes"));
    }

    /// The result is the same as that of serde_json, for all types of the serde data model.
    #[test]
    fn serialized_values_equal_those_of_serde_json() {
        check(&Everything {
            unit: (),
            unit_struct: Unit,
            newtype: Newtype(0.1),
            tuple: Tuple(u64::MAX, '\u{1d11e}', true),
            variants: vec![
                Variant::Unit,
                Variant::Newtype(1),
                Variant::Tuple(-1, "\"".into()),
                Variant::Struct { a: Some(i128::MIN), b: "\u{0}\n" },
                Variant::Struct { a: None, b: "" },
                Variant::EmptyTuple(),
            ],
            rest: [("x", 1), ("y", 2)].into(),
            none: None,
            some: Some("é"),
            numbers: [0.0, -0.0, 1.0, 0.1, 1e300, 5e-324, f64::MAX, f64::NAN, f64::INFINITY],
            raw: to_raw_value(&json!({ "a": [1, "b"] })).expect("JSON"),
            empty: [],
        });
        check(&json!({ "": null, "a": [], "b": {}, "c": [1, -1.5, true], "é\n": ["", "x", "\"", "two words\\"] }));
        check(&BTreeMap::from([(1_u8, 'a')]));
        check(&BTreeMap::from([(false, 'a'), (true, 'b')]));
        check(&BTreeMap::from([('"', 1_i64)]));
        check(b"bytes".as_slice());
    }

    /// serde_json rejects the same names.
    #[test]
    fn only_scalars_can_be_names() {
        fn fails(value: &impl Serialize) -> bool {
            to_string(value).is_err() && serde_json::to_string(value).is_err()
        }
        assert!(fails(&BTreeMap::from([(vec![1], 1)])));
        assert!(fails(&BTreeMap::from([((), 1)])));
        assert!(fails(&BTreeMap::from([(None::<u8>, 1)])));
        assert!(fails(&BTreeMap::from([(BTreeMap::from([(1, 1)]), 1)])));
    }
}
