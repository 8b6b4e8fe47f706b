//! The types of JSON Schema, and sets of them.

use edge_json::Kind;

/// A type of JSON Schema. Each is a bit of a set of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `true` and `false`.
    Boolean = 1,
    /// Numbers without a fraction, such as `7` and `7.0`.
    Integer = 2,
    /// All numbers.
    Number = 4,
    /// Strings.
    String = 8,
    /// Arrays.
    Array = 16,
    /// Objects.
    Object = 32,
    /// `null`.
    Null = 64,
}

impl Type {
    const NAMES: [(&'static str, Self); 7] = [
        ("boolean", Self::Boolean),
        ("integer", Self::Integer),
        ("number", Self::Number),
        ("string", Self::String),
        ("array", Self::Array),
        ("object", Self::Object),
        ("null", Self::Null),
    ];

    /// Returns the type with this name in a schema, or `None` if the name is unknown.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// Returns the type of all values of `kind`.
    const fn of(kind: Kind) -> Self {
        match kind {
            Kind::Null => Self::Null,
            Kind::Boolean => Self::Boolean,
            Kind::Number => Self::Number,
            Kind::String => Self::String,
            Kind::Array => Self::Array,
            Kind::Object => Self::Object,
        }
    }

    /// Returns the name with its article, for error messages.
    const fn with_article(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// A set of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    pub(super) const ALL: Self = Self(127);
    /// The types of the schema `false`.
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn with(self, other: Type) -> Self {
        Self(self.0 | other as u8)
    }

    pub(super) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns whether all values of `kind` are allowed.
    pub(super) const fn allow(self, kind: Kind) -> bool {
        self.0 & Type::of(kind) as u8 != 0
    }

    /// Returns whether integers are allowed, with or without other numbers.
    pub(super) const fn allow_integers(self) -> bool {
        self.0 & (Type::Integer as u8 | Type::Number as u8) != 0
    }

    pub(super) const fn is_subset_of(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Iterates over the names of the types, for error messages.
    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        let types = Type::NAMES.into_iter().map(|(_, kind)| kind);
        types.filter(move |kind| self.0 & *kind as u8 != 0).map(Type::with_article)
    }
}
