//! An expression of a template, and the check that its end is unambiguous.

use std::collections::BTreeMap;
use std::fmt;

use super::error::{ExpandError, InvalidVariable, UriTemplateError};
use super::operator::Operator;
use super::value;

/// The content of a pair of braces, and the literal that follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expression {
    pub(super) operator: &'static Operator,
    /// The names of the variables, at least one.
    pub(super) variables: Vec<String>,
    /// The literal after the closing brace.
    pub(super) literal: String,
    /// The number of bytes at the start of `literal` that are also allowed in a value. The matcher first reads them as a part of
    /// the value, and then removes them from the end of the value.
    pub(super) shared: usize,
}

impl Expression {
    pub(super) fn new(operator: &'static Operator, variables: Vec<String>, literal: String) -> Self {
        // Named parameters are optional, so the literal may also follow an absent value. Then it cannot share bytes with a value.
        let could_hold = |byte: &u8| !operator.named && operator.allow.writes(*byte);
        let shared = literal.bytes().take_while(could_hold).count();
        Self { operator, variables, literal, shared }
    }

    /// Appends the expansion to `uri` (RFC 6570 §3.2.1 and appendix A).
    ///
    /// # Errors
    /// A variable is missing or has an invalid value.
    pub(super) fn expand(&self, variables: &BTreeMap<String, String>, uri: &mut String) -> Result<(), ExpandError> {
        let operator = self.operator;
        let mut lead = operator.first;
        for name in &self.variables {
            let reject = |reason| Err(ExpandError { variable: name.clone(), reason });
            let Some(value) = variables.get(name) else {
                if operator.named {
                    continue;
                }
                return reject(InvalidVariable::Missing);
            };
            if let Some(reason) = value::problem(operator, value) {
                return reject(reason);
            }
            uri.push_str(lead);
            if operator.named {
                uri.push_str(name);
                uri.push_str(if value.is_empty() { operator.ifemp } else { "=" });
            }
            value::encode(operator.allow, value, uri);
            lead = operator.sep;
        }
        uri.push_str(&self.literal);
        Ok(())
    }

    /// Checks that the end of each variable is unambiguous if the expressions `after` follow.
    ///
    /// # Errors
    /// [`UriTemplateError::Ambiguous`] if the end of a variable is ambiguous.
    pub(super) fn check_ends(&self, after: &[Self]) -> Result<(), UriTemplateError> {
        let ambiguous = |variable: &String, next| Err(UriTemplateError::Ambiguous { variable: variable.clone(), next });
        let Operator { sep, allow, .. } = *self.operator;
        match self.variables.as_slice() {
            [first, _, ..] if sep.bytes().any(|byte| allow.writes(byte)) => ambiguous(first, sep.to_owned()),
            [.., last] => self.ambiguous_part(after).map_or(Ok(()), |next| ambiguous(last, next)),
            [] => Ok(()),
        }
    }

    /// Returns the part of the template after this expression that could also be a part of its last value.
    ///
    /// An optional expression may be absent, so the search continues after it.
    fn ambiguous_part(&self, after: &[Self]) -> Option<String> {
        if let Some(byte) = self.literal.as_bytes().get(self.shared) {
            return self.may_continue_with(*byte).then(|| self.literal.clone());
        }
        let mut next = self.literal.clone();
        for expression in after {
            next.push_str(&expression.to_string());
            let first = expression.operator.first.bytes().next();
            // An expression without a prefix starts with its value, and all values share characters.
            if first.is_none_or(|byte| self.may_continue_with(byte)) {
                return Some(next);
            }
            if !expression.operator.named {
                return None;
            }
            next.push_str(&expression.literal);
            if let Some(byte) = expression.literal.bytes().next() {
                return self.may_continue_with(byte).then_some(next);
            }
        }
        None
    }

    /// Returns whether `byte` would be read as a part of this expression, after its last variable or if all of them are absent.
    fn may_continue_with(&self, byte: u8) -> bool {
        let Operator { first, sep, named, ifemp, allow, .. } = *self.operator;
        let is = |text: &str| text.as_bytes() == [byte];
        let starts_parameter = is(first) || (is(sep) && self.variables.len() > 1) || (byte == b'=' && ifemp.is_empty());
        allow.writes(byte) || (named && starts_parameter)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}{}}}", self.operator.symbol, self.variables.join(","))
    }
}
