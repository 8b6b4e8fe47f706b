//! The limits of a JSON text, and the reasons to reject one.

use std::error::Error;
use std::fmt;

/// Limits on a JSON text. A text that exceeds them is rejected before it is used.
#[derive(Clone, Copy, Debug)]
pub struct JsonLimits {
    /// The nesting depth of arrays and objects. At most 120, because serde_json rejects a depth above 127.
    pub depth: usize,
    /// The number of values of every kind, keys included.
    pub values: usize,
}

impl JsonLimits {
    /// The limits that [`Default`] returns, for text from outside.
    pub const DEFAULT: Self = Self { depth: 100, values: 500_000 };
    /// The largest supported limits, for text whose size is limited in another way.
    pub const MOST: Self = Self { depth: 120, values: usize::MAX };
}

impl Default for JsonLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The reason why a JSON text was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonError {
    /// `"\xff"`: the bytes are not UTF-8.
    NotUtf8,
    /// `{"a":}`: the text is not valid JSON.
    Syntax {
        /// The offset of the error, in bytes.
        at: usize,
    },
    /// `{"a":1,"a":2}`: a key occurs twice in an object. Parsers disagree about which value counts.
    DuplicateKey {
        /// The key, shortened to 64 characters.
        key: String,
    },
    /// `[[[[…`: the nesting is deeper than [`JsonLimits::depth`].
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// `[0,0,0,…`: there are more values than [`JsonLimits::values`].
    TooManyValues {
        /// The limit.
        limit: usize,
    },
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 => write!(f, "the text is not UTF-8"),
            Self::Syntax { at } => write!(f, "the text is not valid JSON at byte {at}"),
            Self::DuplicateKey { key } => write!(f, "the key {key:?} occurs twice in one object; send it once"),
            Self::TooDeep { limit } => write!(f, "values are nested deeper than {limit} levels"),
            Self::TooManyValues { limit } => write!(f, "the text has more than {limit} values"),
        }
    }
}

impl Error for JsonError {}
