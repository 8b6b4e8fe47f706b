//! An expression of a template, and whether it can be told where it ends.

use std::collections::BTreeMap;
use std::fmt;

use super::error::{ExpandError, Refusal, UriTemplateError};
use super::operator::Operator;
use super::value;

/// What is between braces, with the literal that follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expression {
    pub(super) operator: &'static Operator,
    /// At least one.
    pub(super) variables: Vec<String>,
    pub(super) literal: String,
    /// How many bytes at the start of `literal` the last value could also hold. What is read as a value has them at its
    /// end, and gives them back.
    pub(super) shared: usize,
}

impl Expression {
    pub(super) fn new(operator: &'static Operator, variables: Vec<String>, literal: String) -> Self {
        // A parameter that can be left out shares nothing: the literal would then be after a value, or after none.
        let could_hold = |byte: &u8| !operator.named && operator.allow.writes(*byte);
        let shared = literal.bytes().take_while(could_hold).count();
        Self { operator, variables, literal, shared }
    }

    /// RFC 6570 §3.2.1, and the pseudocode of appendix A.
    pub(super) fn expand(&self, variables: &BTreeMap<String, String>, uri: &mut String) -> Result<(), ExpandError> {
        let operator = self.operator;
        let mut lead = operator.first;
        for name in &self.variables {
            let refuse = |reason| Err(ExpandError { variable: name.clone(), reason });
            let Some(value) = variables.get(name) else {
                if operator.named {
                    continue;
                }
                return refuse(Refusal::Missing);
            };
            if let Some(reason) = value::refusal(operator, value) {
                return refuse(reason);
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

    /// Whether the end of each variable can be told, when these expressions come `after` it.
    pub(super) fn check_ends(&self, after: &[Self]) -> Result<(), UriTemplateError> {
        let ambiguous = |variable: &String, next| Err(UriTemplateError::Ambiguous { variable: variable.clone(), next });
        let Operator { sep, allow, .. } = *self.operator;
        match self.variables.as_slice() {
            [first, _, ..] if sep.bytes().any(|byte| allow.writes(byte)) => ambiguous(first, sep.to_owned()),
            [.., last] => self.more_in(after).map_or(Ok(()), |next| ambiguous(last, next)),
            [] => Ok(()),
        }
    }

    /// What comes after this expression, up to what could be read as more of it, if something could.
    ///
    /// An expression that can be left out is looked at, and past.
    fn more_in(&self, after: &[Self]) -> Option<String> {
        if let Some(byte) = self.literal.as_bytes().get(self.shared) {
            return self.may_go_on_with(*byte).then(|| self.literal.clone());
        }
        let mut next = self.literal.clone();
        for expression in after {
            next.push_str(&expression.to_string());
            let first = expression.operator.first.bytes().next();
            // One that writes nothing before its value begins with the value, and all values have characters in common.
            if first.is_none_or(|byte| self.may_go_on_with(byte)) {
                return Some(next);
            }
            if !expression.operator.named {
                return None;
            }
            next.push_str(&expression.literal);
            if let Some(byte) = expression.literal.bytes().next() {
                return self.may_go_on_with(byte).then_some(next);
            }
        }
        None
    }

    /// Whether `byte`, after a variable or where all were left out, would be read as part of this expression.
    fn may_go_on_with(&self, byte: u8) -> bool {
        let Operator { first, sep, named, ifemp, allow, .. } = *self.operator;
        let is = |text: &str| text.as_bytes() == [byte];
        let another = is(first) || (is(sep) && self.variables.len() > 1) || (byte == b'=' && ifemp.is_empty());
        allow.writes(byte) || (named && another)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}{}}}", self.operator.symbol, self.variables.join(","))
    }
}
