//! The JSON of stored values and of messages.
//!
//! With serde, the wasm module of the knowledge base would be 1.5 % larger.

use edge_json::write::{self, ObjectWriter};
use edge_json::{Document, JsonLimits, Value};
use serde_json::value::RawValue;

use crate::auth::Principal;
use crate::protocol::capabilities::ClientCapabilities;

/// A value that is stored as JSON.
pub(super) trait Stored: Sized {
    fn json(&self) -> String;

    /// Reads a value. Returns `None` if it has another format.
    fn read(value: Value<'_>) -> Option<Self>;

    fn parse(json: &[u8]) -> Option<Self> {
        Self::read(Document::parse(json, JsonLimits::MOST).ok()?.root())
    }

    /// Adds the value to an object.
    fn add_to(&self, object: ObjectWriter, name: &str) -> ObjectWriter {
        object.json(name, &self.json())
    }

    /// Reads the member `name` of an object.
    fn of_member(object: Value<'_>, name: &str) -> Option<Self> {
        Self::read(object.get(name)?)
    }
}

/// Implements [`Stored`] for a struct: its members and their names. The members after `but` are not stored.
macro_rules! stored {
    ($type:ident { $($member:ident: $name:literal),* } $(but $other:ident)?) => {
        impl $crate::tasks::stored::Stored for $type {
            fn json(&self) -> String {
                let object = edge_json::write::ObjectWriter::new();
                $(let object = self.$member.add_to(object, $name);)*
                object.finish()
            }

            fn read(value: edge_json::Value<'_>) -> Option<Self> {
                $(let $member = $crate::tasks::stored::Stored::of_member(value, $name)?;)*
                Some(Self { $($member,)* $($other: Default::default())? })
            }
        }
    };
}
pub(super) use stored;

stored!(ClientCapabilities { elicitation_form: "form", elicitation_url: "url", sampling: "sampling", roots: "roots" });

macro_rules! stored_as_text {
    ($($type:ty)*) => {$(
        impl Stored for $type {
            fn json(&self) -> String {
                self.to_string()
            }

            fn read(value: Value<'_>) -> Option<Self> {
                value.text().parse().ok()
            }
        }
    )*};
}
stored_as_text! { u64 u32 bool }

impl Stored for String {
    fn json(&self) -> String {
        write::text(&self.as_str().into())
    }

    fn read(value: Value<'_>) -> Option<Self> {
        value.as_str().map(Into::into)
    }
}

impl Stored for Principal {
    fn json(&self) -> String {
        self.to_json()
    }

    fn read(value: Value<'_>) -> Option<Self> {
        Self::read(value)
    }
}

impl Stored for Box<RawValue> {
    fn json(&self) -> String {
        self.get().to_owned()
    }

    fn read(value: Value<'_>) -> Option<Self> {
        value.to_raw()
    }
}

/// A member that can be absent.
impl<T: Stored> Stored for Option<T> {
    fn json(&self) -> String {
        self.as_ref().map_or_else(|| "null".to_owned(), Stored::json)
    }

    fn read(value: Value<'_>) -> Option<Self> {
        T::read(value).map(Some)
    }

    fn add_to(&self, object: ObjectWriter, name: &str) -> ObjectWriter {
        match self {
            Some(value) => value.add_to(object, name),
            None => object,
        }
    }

    fn of_member(object: Value<'_>, name: &str) -> Option<Self> {
        object.get(name).map_or(Some(None), Self::read)
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn json(&self) -> String {
        let items: Vec<String> = self.iter().map(Stored::json).collect();
        format!("[{}]", items.join(","))
    }

    fn read(value: Value<'_>) -> Option<Self> {
        value.items().map(T::read).collect()
    }
}

/// A text, what belongs to it, and a value.
impl Stored for (String, String, Box<RawValue>) {
    fn json(&self) -> String {
        let (first, second, value) = self;
        format!("[{},{},{value}]", first.json(), second.json())
    }

    fn read(value: Value<'_>) -> Option<Self> {
        let mut items = value.items();
        Some((String::read(items.next()?)?, String::read(items.next()?)?, items.next()?.to_raw()?))
    }
}
