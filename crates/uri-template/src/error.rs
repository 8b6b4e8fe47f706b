//! The errors of templates and of variables.

use std::error::Error;
use std::fmt;

/// The reason why a template is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UriTemplateError {
    /// `documents/{slug}`, `{+uri}`: the scheme is missing, or is a variable.
    Scheme,
    /// `kb://{slug`, `kb://slug}`: an unbalanced brace.
    Brace,
    /// `kb://a b/{slug}`: a literal has a character that is not allowed in a URI (RFC 6570 §2.1). `kb://100%/{slug}`: the `%` does
    /// not start an escape.
    Literal(char),
    /// `kb://{!slug}`: an operator that RFC 6570 reserves for extensions (§2.2): `=`, `,`, `!`, `@` or `|`.
    Operator(char),
    /// `kb://{}`, `kb://{a-b}`, `kb://{a, b}`: the name of a variable may have letters, digits, `_`, escapes, and dots between
    /// them (§2.3).
    Name(String),
    /// `kb://{path*}`, `kb://{name:3}`: a modifier of level 4 (§2.4).
    Modifier(String),
    /// `kb://{a}/{a}`: a variable occurs twice.
    Repeated(String),
    /// `kb://{a}{b}`, `kb://{a}-{b}`, `kb://{+a}/{b}`, `kb://{+a,b}`, `kb://{;a}{;b}`: the end of a variable is ambiguous.
    Ambiguous {
        /// The variable whose end is ambiguous.
        variable: String,
        /// The part of the template after it that could also be a part of its value.
        next: String,
    },
}

impl fmt::Display for UriTemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheme => write!(f, "it must start with a scheme, such as `kb://`"),
            Self::Brace => write!(f, "unbalanced brace"),
            Self::Literal('%') => {
                write!(f, "`%` must be followed by two hexadecimal digits; write a literal `%` as `%25`")
            }
            Self::Literal(character) => write!(f, "{character:?} is not allowed in a URI; percent-encode it"),
            Self::Operator(operator) => write!(f, "the operator `{operator}` is reserved by RFC 6570; remove it"),
            Self::Name(name) => {
                write!(f, "`{name}` is not a valid variable name; use letters, digits, `_` and inner dots")
            }
            Self::Modifier(variable) => {
                write!(f, "`{variable}` has a modifier of RFC 6570 level 4, which is not supported; remove it")
            }
            Self::Repeated(name) => write!(f, "the variable `{name}` occurs twice"),
            Self::Ambiguous { variable, next } => write!(
                f,
                "the end of the variable `{variable}` is ambiguous, because its value may contain the `{next}` after it; \
                 end the variable with a character that its operator percent-encodes, such as `/` for `{{name}}`"
            ),
        }
    }
}

impl Error for UriTemplateError {}

/// The reason why a template cannot be expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpandError {
    /// The name of the variable.
    pub variable: String,
    /// The problem with the variable.
    pub reason: InvalidVariable,
}

/// The problem with a variable. The examples are for the template `kb://{slug}{?page}`, unless they name another template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidVariable {
    /// `page=2` alone: only the variables of `{;x}`, `{?x}` and `{&x}` are optional.
    Missing,
    /// `slug=a`, `pages=2`: the template has no such variable.
    Unknown,
    /// `slug=` (empty): only `{;x}`, `{?x}` and `{&x}` allow an empty value.
    Empty,
    /// `slug=a\0b`: many systems end a string at NUL.
    Nul,
    /// `slug=..`, `slug=a/./b`, `slug=..\b`: a dot segment, which changes the path.
    DotSegment,
    /// `path=a%20b` for `kb://{+path}`: this operator does not encode escapes (RFC 6570 §3.2.3), so the value would be decoded when it
    /// is read back.
    Escape,
}

impl fmt::Display for ExpandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { variable, reason } = self;
        match reason {
            InvalidVariable::Missing => write!(f, "the variable `{variable}` has no value"),
            InvalidVariable::Unknown => write!(f, "the template has no variable `{variable}`"),
            InvalidVariable::Empty => write!(f, "the variable `{variable}` is empty"),
            InvalidVariable::Nul => write!(f, "the variable `{variable}` contains NUL"),
            InvalidVariable::DotSegment => write!(f, "the variable `{variable}` contains a path segment `.` or `..`"),
            InvalidVariable::Escape => {
                write!(f, "the variable `{variable}` contains an escape such as `%20`; pass the decoded value")
            }
        }
    }
}

impl Error for ExpandError {}
