//! Deserialization of a [`Value`] into a type, by serde.
//!
//! The text has been parsed already; only numbers are parsed again. Errors have the path of the rejected value. They do not
//! quote the value, except in messages of user-defined types.

use std::borrow::Cow;
use std::iter::once;

use serde::de::value::{BorrowedStrDeserializer, MapDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::document::{Children, Document, Value};
use super::error::JsonLimits;
use super::kind::Kind;
use super::number::Number;
use super::type_error::{PathSegment, TypeError};

/// The name by which serde_json's `RawValue` requests the source text of a value.
const RAW: &str = "$serde_json::private::RawValue";

/// Deserializes a value into a `T`, in the same way as serde_json, with two differences:
///
/// - serde_json also reads a struct from an array of its fields. This function reads a struct only from an object, as its schema requires.
/// - In serde_json, `7.0` and `-0` are not integers. Here an integer type accepts them, as in JSON Schema.
///
/// serde buffers the values of tagged and flattened types before it selects their types, so it cannot request an integer. Therefore, if `T`
/// rejects the value, this function reads it a second time, with every number like `7.0` as an integer.
///
/// # Errors
/// `T` rejects the value.
pub fn read<'d, T: Deserialize<'d>>(value: Value<'d>) -> Result<T, TypeError> {
    let mut numbers = Numbers::AsWritten;
    loop {
        match T::deserialize(Reader { value, numbers }) {
            Err(_) if numbers == Numbers::AsWritten => numbers = Numbers::Whole,
            result => return result,
        }
    }
}

/// The way in which numbers are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    AsWritten,
    /// `7.0` is `7`, even if the type did not request an integer.
    Whole,
    /// The value is a key, so numbers are in quotes.
    InKeys,
}

/// Deserializes a JSON text from this server or another one, with the largest limits. Returns `None` if it is not JSON, or if `T` rejects
/// it.
pub fn read_text<T: DeserializeOwned>(text: &[u8]) -> Option<T> {
    read(Document::parse(text, JsonLimits::MOST).ok()?.root()).ok()
}

impl<'d> Value<'d> {
    /// Returns a serde deserializer of the value. [`read`] also accepts `7.0` as an integer in tagged and flattened types.
    pub fn deserializer(self) -> impl Deserializer<'d, Error = TypeError> {
        Reader { value: self, numbers: Numbers::AsWritten }
    }

    /// Copies the source text. `None` does not occur, because the text was parsed as JSON.
    pub fn to_raw(self) -> Option<Box<RawValue>> {
        read(self).ok()
    }
}

impl Number {
    /// Parses a text that may be a JSON number.
    pub fn of_text(text: &str) -> Option<Self> {
        let document = Document::parse(text.as_bytes(), JsonLimits::default()).ok()?;
        let number = document.root();
        // Spaces around a number are not a part of it.
        if number.kind() == Kind::Number && number.text() == text { Self::of(text) } else { None }
    }

    /// Passes the number to a visitor of serde.
    ///
    /// # Errors
    /// The visitor does not accept such a number.
    pub fn visit<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match self {
            Self::Unsigned(number) => visitor.visit_u64(number),
            Self::Signed(number) => visitor.visit_i64(number),
            Self::Float(number) => visitor.visit_f64(number),
        }
    }
}

/// The serde deserializer of a value.
#[derive(Clone, Copy)]
struct Reader<'d> {
    value: Value<'d>,
    numbers: Numbers,
}

impl<'d> Reader<'d> {
    fn with(self, value: Value<'d>) -> Self {
        Self { value, ..self }
    }

    /// Parses the value as a number. Returns `None` if it is of another kind.
    #[inline(never)]
    fn number(self, is_whole: bool) -> Option<Result<Number, TypeError>> {
        let text = self.value.text();
        match (self.value.kind(), self.numbers) {
            (Kind::String, Numbers::InKeys) => Number::of_text(&self.value.as_str()?).map(Ok),
            (Kind::Number, _) => Some(match Number::of(text) {
                Some(Number::Float(float)) if is_whole => Ok(Number::of_integer(text).unwrap_or(Number::Float(float))),
                Some(number) => Ok(number),
                None => Err(out_of_range()),
            }),
            _ => None,
        }
    }

    fn visit_number<V: Visitor<'d>>(self, is_whole: bool, visitor: V) -> Result<V::Value, TypeError> {
        match self.number(is_whole) {
            Some(number) => number?.visit(visitor),
            None => Err(TypeError::expected(&visitor)),
        }
    }

    fn visit_string<V: Visitor<'d>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match self.value.as_str() {
            Some(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
            Some(Cow::Owned(text)) => visitor.visit_string(text),
            None => Err(TypeError::expected(&visitor)),
        }
    }

    fn visit_items<V: Visitor<'d>>(self, visitor: V) -> Result<V::Value, TypeError> {
        let mut items = Items { children: self.value.children(Kind::Array), outer: self, next: 0 };
        let read = visitor.visit_seq(&mut items)?;
        if items.advance().is_some() { Err(TypeError::new("there are too many items")) } else { Ok(read) }
    }

    fn visit_members<V: Visitor<'d>>(self, visitor: V) -> Result<V::Value, TypeError> {
        let mut members = Members { children: self.value.children(Kind::Object), outer: self, entered: None };
        let read = visitor.visit_map(&mut members)?;
        if members.next_name().is_some() { Err(TypeError::new("there are too many members")) } else { Ok(read) }
    }
}

fn is_beyond_single(float: f64) -> bool {
    #[allow(clippy::cast_possible_truncation, reason = "a number that is too large becomes infinite")]
    let single = float as f32;
    single.is_infinite()
}

fn out_of_range() -> TypeError {
    TypeError::new("the number is out of range")
}

macro_rules! numbers {
    ($($method:ident $is_whole:literal),*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
            self.visit_number($is_whole, visitor)
        }
    )*};
}

macro_rules! strings {
    ($($method:ident),*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
            self.visit_string(visitor)
        }
    )*};
}

/// Methods that accept only certain kinds of values.
macro_rules! kinds {
    ($($method:ident ($($ignored:ty),*) $($kind:ident => $visit:ident),*;)*) => {$(
        fn $method<V: Visitor<'de>>(self, $(_: $ignored,)* visitor: V) -> Result<V::Value, TypeError> {
            match self.value.kind() {
                $(Kind::$kind => self.$visit(visitor),)*
                _ => Err(TypeError::expected(&visitor)),
            }
        }
    )*};
}

/// Methods for 128-bit integers, which [`Number`] cannot hold.
macro_rules! long_integers {
    ($($method:ident $visit:ident),*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
            let text = if self.numbers == Numbers::InKeys { self.value.as_str() } else { None };
            match text.as_deref().unwrap_or(self.value.text()).parse() {
                Ok(number) => visitor.$visit(number),
                Err(_) => self.visit_number(true, visitor),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = TypeError;

    numbers! {
        deserialize_i8 true, deserialize_i16 true, deserialize_i32 true, deserialize_i64 true, deserialize_u8 true,
        deserialize_u16 true, deserialize_u32 true, deserialize_u64 true, deserialize_f64 false
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match self.number(false) {
            // serde would make it infinite.
            Some(Ok(Number::Float(float))) if is_beyond_single(float) => Err(out_of_range()),
            _ => self.visit_number(false, visitor),
        }
    }

    long_integers! { deserialize_i128 visit_i128, deserialize_u128 visit_u128 }

    strings! { deserialize_char, deserialize_str, deserialize_string, deserialize_identifier }

    kinds! {
        deserialize_seq() Array => visit_items;
        deserialize_tuple(usize) Array => visit_items;
        deserialize_tuple_struct(&'static str, usize) Array => visit_items;
        deserialize_map() Object => visit_members;
        deserialize_struct(&'static str, &'static [&'static str]) Object => visit_members;
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match self.value.kind() {
            Kind::Null => visitor.visit_unit(),
            Kind::Boolean => self.deserialize_bool(visitor),
            Kind::Number => self.visit_number(self.numbers == Numbers::Whole, visitor),
            Kind::String => self.visit_string(visitor),
            Kind::Array => self.visit_items(visitor),
            Kind::Object => self.visit_members(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match (self.value.text(), self.numbers) {
            ("true", _) | ("\"true\"", Numbers::InKeys) => visitor.visit_bool(true),
            ("false", _) | ("\"false\"", Numbers::InKeys) => visitor.visit_bool(false),
            _ => Err(TypeError::expected(&visitor)),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        match self.value.as_str() {
            Some(Cow::Borrowed(text)) => visitor.visit_borrowed_bytes(text.as_bytes()),
            Some(Cow::Owned(text)) => visitor.visit_byte_buf(text.into_bytes()),
            None => self.deserialize_seq(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        if self.value.kind() == Kind::Null { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        if self.value.kind() == Kind::Null { visitor.visit_unit() } else { Err(TypeError::expected(&visitor)) }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, TypeError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        if name == RAW {
            let text = BorrowedStrDeserializer::new(self.value.text());
            return visitor.visit_map(MapDeserializer::new(once((BorrowedStrDeserializer::new(RAW), text))));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        let mut members = self.value.children(Kind::Object);
        match (self.value.kind(), members.next(), members.next(), members.next()) {
            (Kind::String, ..) => visitor.visit_enum(Variant { name: self, content: None }),
            (_, Some(name), content, None) => {
                let name = Self { value: name, numbers: self.numbers };
                visitor.visit_enum(Variant { name, content })
            }
            _ => Err(TypeError::new("expected a string, or an object with one member")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypeError> {
        visitor.visit_unit()
    }
}

struct Items<'d> {
    children: Children<'d>,
    outer: Reader<'d>,
    next: usize,
}

// `advance` is not generic, so the wasm module contains it only once.
impl<'d> Items<'d> {
    /// Returns the next item and its index.
    fn advance(&mut self) -> Option<(usize, Value<'d>)> {
        let at = self.next;
        self.next = at.saturating_add(1);
        Some((at, self.children.next()?))
    }
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = TypeError;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, TypeError> {
        let Some((at, item)) = self.advance() else { return Ok(None) };
        seed.deserialize(self.outer.with(item)).map(Some).map_err(|error| error.inside(PathSegment::Item(at)))
    }
}

struct Members<'d> {
    children: Children<'d>,
    outer: Reader<'d>,
    /// The key of the member whose value is next.
    entered: Option<Value<'d>>,
}

impl<'d> Members<'d> {
    fn next_name(&mut self) -> Option<Value<'d>> {
        self.entered = self.children.next();
        self.entered
    }

    fn next_member(&mut self) -> Result<(Value<'d>, Value<'d>), TypeError> {
        let member = self.entered.take().zip(self.children.next());
        member.ok_or_else(|| TypeError::new("a value was requested before its key"))
    }
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = TypeError;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, TypeError> {
        let Some(name) = self.next_name() else { return Ok(None) };
        let read = seed.deserialize(Reader { value: name, numbers: Numbers::InKeys });
        read.map(Some).map_err(|error| error.inside(member(name)))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, TypeError> {
        let (name, value) = self.next_member()?;
        seed.deserialize(self.outer.with(value)).map_err(|error| error.inside(member(name)))
    }
}

/// A variant of an enum: a string, or an object with one member.
struct Variant<'d> {
    name: Reader<'d>,
    content: Option<Value<'d>>,
}

#[inline(never)]
fn member(name: Value<'_>) -> PathSegment {
    PathSegment::Member(name.as_str().unwrap_or_default().into_owned())
}

impl<'d> Variant<'d> {
    /// Reads the content of the variant.
    ///
    /// # Errors
    /// The variant has no content, or `read` rejects it.
    fn content<T>(self, read: impl FnOnce(Reader<'d>) -> Result<T, TypeError>) -> Result<T, TypeError> {
        match self.content {
            Some(content) => read(self.name.with(content)).map_err(|error| error.inside(member(self.name.value))),
            None => Err(TypeError::new("expected a variant with content: an object with one member")),
        }
    }
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = TypeError;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), TypeError> {
        Ok((seed.deserialize(self.name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = TypeError;

    fn unit_variant(self) -> Result<(), TypeError> {
        if self.content.is_none() { Ok(()) } else { self.content(<()>::deserialize) }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, TypeError> {
        self.content(|content| seed.deserialize(content))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, TypeError> {
        self.content(|content| content.deserialize_seq(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TypeError> {
        self.content(|content| content.deserialize_struct("", fields, visitor))
    }
}

#[cfg(test)]
mod tests;
