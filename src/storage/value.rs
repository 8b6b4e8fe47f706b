//! The values of parameters.

use crate::text::Text;

/// The largest whole number that JavaScript, and so D1, represents exactly.
pub(super) const MOST_INTEGER: i64 = (1 << 53) - 1;

/// The value of a parameter of a [`Statement`](super::Statement).
///
/// Most types of values convert into it, and an `Option` of them: `None` is NULL. D1 passes every number as REAL. A column of the type
/// INTEGER stores a whole number as INTEGER. Elsewhere, write `CAST(?1 AS INTEGER)`, for instance to divide or to concatenate.
#[derive(Clone, Debug, PartialEq)]
pub enum SqlValue {
    /// NULL.
    Null,
    /// A whole number from −(2^53 − 1) to 2^53 − 1.
    Integer(i64),
    /// A finite number.
    Real(f64),
    /// A text of at most 2 000 000 bytes.
    Text(String),
    /// Bytes, at most 2 000 000.
    Blob(Vec<u8>),
}

macro_rules! from {
    ($($type:ty: $value:ident => $converted:expr;)*) => {$(
        impl From<$type> for SqlValue {
            fn from($value: $type) -> Self {
                $converted
            }
        }
    )*};
}

from! {
    bool: value => Self::Integer(i64::from(value));
    u8: value => Self::Integer(i64::from(value));
    u16: value => Self::Integer(i64::from(value));
    u32: value => Self::Integer(i64::from(value));
    i8: value => Self::Integer(i64::from(value));
    i16: value => Self::Integer(i64::from(value));
    i32: value => Self::Integer(i64::from(value));
    i64: value => Self::Integer(value);
    // The statement rejects a number beyond 2^53 - 1, so a number beyond `i64` does not need another variant.
    u64: value => Self::Integer(i64::try_from(value).unwrap_or(i64::MAX));
    usize: value => Self::Integer(i64::try_from(value).unwrap_or(i64::MAX));
    f32: value => Self::Real(f64::from(value));
    f64: value => Self::Real(value);
    &str: value => Self::Text(value.to_owned());
    &String: value => Self::Text(value.clone());
    String: value => Self::Text(value);
    &Option<String>: value => value.as_deref().into();
    Text: value => Self::Text(value.into_owned());
    &[u8]: value => Self::Blob(value.to_vec());
    Vec<u8>: value => Self::Blob(value);
}

impl<T: Into<Self>> From<Option<T>> for SqlValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
