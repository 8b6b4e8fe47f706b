//! The values in a filter.

use std::cmp::Ordering;

use crate::limits::FILTER_TEXT;

/// A value in a filter: a string, a number or a boolean.
///
/// Numbers are `f64`, because JSON numbers in metadata are compared as `f64`. There is no conversion from `i64` and `u64`, whose large
/// values are not exact as `f64`. Store a large id as a string.
///
/// ```
/// use edge_mcp::rag::Scalar;
///
/// assert_eq!(Scalar::from("tea"), Scalar::Text("tea".into()));
/// assert_eq!(Scalar::from(2), Scalar::Number(2.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// A string, at most 512 bytes.
    Text(String),
    /// A number that is neither infinite nor NaN.
    Number(f64),
    /// A boolean.
    Boolean(bool),
}

impl Scalar {
    /// Returns the problem with the value, as the predicate of a sentence.
    pub(super) fn problem(&self) -> Option<String> {
        match self {
            Self::Text(text) if text.len() > FILTER_TEXT => {
                Some(format!("must have at most {FILTER_TEXT} bytes (got {}).", text.len()))
            }
            Self::Number(number) if !number.is_finite() => {
                Some("must be a number within the range of 64-bit floats.".into())
            }
            _ => None,
        }
    }

    /// Returns the size of a string in bytes. Other values count as one byte.
    pub(super) fn bytes(&self) -> usize {
        if let Self::Text(text) = self { text.len() } else { 1 }
    }

    /// Compares the value of a field with this value. Returns `None` if their types differ.
    pub(super) fn compare(&self, element: &serde_json::Value) -> Option<Ordering> {
        match self {
            Self::Text(text) => Some(element.as_str()?.cmp(text)),
            Self::Number(number) => element.as_f64()?.partial_cmp(number),
            Self::Boolean(boolean) => Some(element.as_bool()?.cmp(boolean)),
        }
    }
}

macro_rules! from {
    ($($from:ty => $variant:ident),*) => {$(
        impl From<$from> for Scalar {
            fn from(value: $from) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

from! { &str => Text, String => Text, &String => Text, f64 => Number, f32 => Number, i32 => Number, u32 => Number, bool => Boolean }
