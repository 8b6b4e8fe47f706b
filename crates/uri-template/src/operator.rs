//! The operators of RFC 6570, as the table of its appendix A.

/// An operator. The fields are the columns of the table in RFC 6570, appendix A.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Operator {
    /// The operator in a template.
    pub(super) symbol: &'static str,
    /// The text before the first variable that has a value.
    pub(super) first: &'static str,
    /// The text between variables.
    pub(super) sep: &'static str,
    /// Whether the name of the variable is in the URI. Such a variable is optional.
    pub(super) named: bool,
    /// The text after the name of a variable with an empty value.
    pub(super) ifemp: &'static str,
    /// The characters of a value that are not percent-encoded.
    pub(super) allow: Allow,
}

/// The characters of a value that are not percent-encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allow {
    /// Unreserved characters.
    U,
    /// Unreserved and reserved characters, and existing escapes.
    UR,
}

#[rustfmt::skip]
pub(super) static OPERATORS: [Operator; 8] = [
    //  symbol first sep  named  ifemp allow
    row("",    "",   ",", false, "",   Allow::U),
    row("+",   "",   ",", false, "",   Allow::UR),
    row("#",   "#",  ",", false, "",   Allow::UR),
    row(".",   ".",  ".", false, "",   Allow::U),
    row("/",   "/",  "/", false, "",   Allow::U),
    row(";",   ";",  ";", true,  "",   Allow::U),
    row("?",   "?",  "&", true,  "=",  Allow::U),
    row("&",   "&",  "&", true,  "=",  Allow::U),
];

const fn row(
    symbol: &'static str,
    first: &'static str,
    sep: &'static str,
    named: bool,
    ifemp: &'static str,
    allow: Allow,
) -> Operator {
    Operator { symbol, first, sep, named, ifemp, allow }
}

impl Operator {
    /// Splits the content of braces into the operator and the rest.
    pub(super) fn split(expression: &str) -> Option<(&'static Self, &str)> {
        // Search in reverse, because the empty symbol of the first row is a prefix of every expression.
        OPERATORS.iter().rev().find_map(|operator| Some((operator, expression.strip_prefix(operator.symbol)?)))
    }
}

impl Allow {
    /// Returns whether an encoded value may contain `byte`: a character of the set, or the start of an escape.
    pub(super) fn writes(self, byte: u8) -> bool {
        byte == b'%' || self.holds(byte)
    }

    /// Returns whether `byte` is in the set, so it is not encoded.
    pub(super) const fn holds(self, byte: u8) -> bool {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => true,
            b':' | b'/' | b'?' | b'#' | b'[' | b']' | b'@' | b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+'
            | b',' | b';' | b'=' => matches!(self, Self::UR),
            _ => false,
        }
    }
}
