//! Why a template is refused, and why variables are.

use std::error::Error;
use std::fmt;

/// Why a template is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UriTemplateError {
    /// `documents/{slug}`, `{+uri}`: the scheme is missing, or is a variable.
    Scheme,
    /// `kb://{slug`, `kb://slug}`: a brace has no partner.
    Brace,
    /// `kb://a b/{slug}`: a literal has a character that no URI can have (RFC 6570 §2.1). `kb://100%/{slug}`: the `%` begins
    /// no escape.
    Literal(char),
    /// `kb://{!slug}`: an operator that RFC 6570 keeps for later (§2.2): `=`, `,`, `!`, `@` or `|`.
    Operator(char),
    /// `kb://{}`, `kb://{a-b}`, `kb://{a, b}`: not a name of letters, digits, `_`, escapes, and dots between them (§2.3).
    Name(String),
    /// `kb://{path*}`, `kb://{name:3}`: a modifier of level 4 (§2.4).
    Modifier(String),
    /// `kb://{a}/{a}`: one variable would have two values.
    Repeated(String),
    /// `kb://{a}{b}`, `kb://{a}-{b}`, `kb://{+a}/{b}`, `kb://{+a,b}`, `kb://{;a}{;b}`: nothing says where a variable ends.
    Ambiguous {
        /// The variable whose end cannot be told.
        variable: String,
        /// What comes after it, up to what could be read as more of it.
        next: String,
    },
}

impl fmt::Display for UriTemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme => write!(f, "it must begin with a scheme, such as `kb://`"),
            Self::Brace => write!(f, "a brace has no partner"),
            Self::Literal('%') => write!(f, "a `%` is not followed by two hexadecimal digits; write it as `%25`"),
            Self::Literal(character) => write!(f, "{character:?} cannot be in a URI; percent-encode it"),
            Self::Operator(operator) => write!(f, "the operator `{operator}` has no meaning in RFC 6570"),
            Self::Name(name) => write!(f, "`{name}` is not a variable's name; use letters, digits, `_` and inner dots"),
            Self::Modifier(variable) => {
                write!(f, "`{variable}` has a modifier of RFC 6570 level 4, which cannot be matched; leave it away")
            }
            Self::Repeated(name) => write!(f, "the variable `{name}` occurs twice"),
            Self::Ambiguous { variable, next } => write!(
                f,
                "it cannot be told where the variable `{variable}` ends, as `{next}` after it can be read as more of it; \
                 a variable ends at a character that its operator percent-encodes, such as `/` for `{{name}}`"
            ),
        }
    }
}

impl Error for UriTemplateError {}

/// Why variables cannot be written into a URI so that they can be read from it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpandError {
    /// The variable's name.
    pub variable: String,
    /// What is wrong with it.
    pub reason: Refusal,
}

/// What is wrong with a variable. The examples are for the template `kb://{slug}{?page}`, if they name no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// `page=2` alone: only `{;x}`, `{?x}` and `{&x}` can do without a value.
    Missing,
    /// `slug=a`, `pages=2`: the template has no such variable.
    Unknown,
    /// `slug=` (nothing): only `{;x}`, `{?x}` and `{&x}` can write an empty value.
    Empty,
    /// `slug=a\0b`: NUL ends a string in too many places.
    Nul,
    /// `slug=..`, `slug=a/./b`, `slug=..\b`: a path segment that means another one.
    DotSegment,
    /// `path=a%20b` for `kb://{+path}`: these operators leave an escape as it is (RFC 6570 §3.2.3), and it would be read as
    /// what it stands for.
    Escape,
}

impl fmt::Display for ExpandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { variable, reason } = self;
        match reason {
            Refusal::Missing => write!(f, "the variable `{variable}` has no value"),
            Refusal::Unknown => write!(f, "the template has no variable `{variable}`"),
            Refusal::Empty => write!(f, "the variable `{variable}` is empty"),
            Refusal::Nul => write!(f, "the variable `{variable}` has a NUL"),
            Refusal::DotSegment => write!(f, "the variable `{variable}` has a path segment `.` or `..`"),
            Refusal::Escape => write!(f, "the variable `{variable}` has an escape such as `%20`; give it decoded"),
        }
    }
}

impl Error for ExpandError {}
