//! The operators of RFC 6570, as the table of its appendix A.

/// What an operator writes, and so what is read for it. The columns are named as in RFC 6570, appendix A.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Operator {
    /// What stands for it in a template.
    pub(super) symbol: &'static str,
    /// Written before the first variable that has a value.
    pub(super) first: &'static str,
    /// Written between variables.
    pub(super) sep: &'static str,
    /// Whether the variable's name is written. A variable that is told by its name can also be left out.
    pub(super) named: bool,
    /// Written after the name of a variable whose value is empty.
    pub(super) ifemp: &'static str,
    pub(super) allow: Allow,
}

/// Which characters of a value are written as they are; the others are percent-encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allow {
    /// Unreserved characters.
    U,
    /// Unreserved and reserved characters, and escapes that the value already has.
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
    /// The operator at the start of what is between braces, and what comes after it.
    pub(super) fn split(expression: &str) -> Option<(&'static Self, &str)> {
        // From the end, as the symbol of the first row is a prefix of everything.
        OPERATORS.iter().rev().find_map(|operator| Some((operator, expression.strip_prefix(operator.symbol)?)))
    }
}

impl Allow {
    /// Whether a value that was written with this set can hold `byte`: a character of the set, or part of an escape.
    pub(super) fn writes(self, byte: u8) -> bool {
        byte == b'%' || self.holds(byte)
    }

    /// Whether `byte` is written as it is.
    pub(super) fn holds(self, byte: u8) -> bool {
        let unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        unreserved || (self == Self::UR && b":/?#[]@!$&'()*+,;=".contains(&byte))
    }
}
