//! Reading a template.

use std::collections::HashSet;

use percent_encoding::percent_encode_byte;

use super::error::UriTemplateError;
use super::expression::Expression;
use super::operator::{Allow, Operator};
use super::value::{begins_escape, escapes_are_whole};
use super::{UriTemplate, has_scheme};

/// RFC 6570 §2.2.
const RESERVED_OPERATORS: [char; 5] = ['=', ',', '!', '@', '|'];

pub(super) fn template(template: &str) -> Result<UriTemplate, UriTemplateError> {
    let mut parts = template.split('{');
    let prefix = literal(parts.next().unwrap_or_default())?;
    if !has_scheme(&prefix) {
        return Err(UriTemplateError::Scheme);
    }
    let expressions = parts.map(expression).collect::<Result<Vec<_>, _>>()?;
    let template = UriTemplate { prefix, expressions };
    let mut names = HashSet::new();
    if let Some(name) = template.variables().find(|name| !names.insert(*name)) {
        return Err(UriTemplateError::Repeated(name.to_owned()));
    }
    let mut unchecked = template.expressions.as_slice();
    while let [expression, after @ ..] = unchecked {
        expression.check_ends(after)?;
        unchecked = after;
    }
    Ok(template)
}

/// What follows an opening brace, up to the next: the expression, and the literal after it.
fn expression(part: &str) -> Result<Expression, UriTemplateError> {
    let (expression, after) = part.split_once('}').ok_or(UriTemplateError::Brace)?;
    if let Some(operator) = expression.chars().next().filter(|first| RESERVED_OPERATORS.contains(first)) {
        return Err(UriTemplateError::Operator(operator));
    }
    let (operator, names) = Operator::split(expression).ok_or_else(|| UriTemplateError::Name(expression.to_owned()))?;
    let variables = names.split(',').map(variable).collect::<Result<_, _>>()?;
    Ok(Expression::new(operator, variables, literal(after)?))
}

/// RFC 6570 §2.3.
fn variable(name: &str) -> Result<String, UriTemplateError> {
    if name.contains([':', '*']) {
        return Err(UriTemplateError::Modifier(name.to_owned()));
    }
    let is_name = |part: &str| !part.is_empty() && part.bytes().all(is_varchar) && escapes_are_whole(part);
    if !name.split('.').all(is_name) {
        return Err(UriTemplateError::Name(name.to_owned()));
    }
    Ok(name.to_owned())
}

/// RFC 6570 §2.3, an escape byte by byte.
pub(super) fn is_varchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'%')
}

/// A literal as it is in the URI (RFC 6570 §2.1 and §3.1): what is not ASCII is percent-encoded.
fn literal(text: &str) -> Result<String, UriTemplateError> {
    let mut written = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match u8::try_from(character) {
            Ok(b'}') => return Err(UriTemplateError::Brace),
            Ok(b'%') if begins_escape(rest.as_str()) => written.push('%'),
            Ok(byte) if Allow::UR.holds(byte) => written.push(character),
            _ if character.is_ascii() || character.is_control() => return Err(UriTemplateError::Literal(character)),
            _ => written.extend(character.encode_utf8(&mut [0; 4]).bytes().map(percent_encode_byte)),
        }
    }
    Ok(written)
}
