//! The parser of templates.

use rustc_hash::FxHashSet;

use percent_encoding::percent_encode_byte;

use super::error::UriTemplateError;
use super::expression::Expression;
use super::operator::{Allow, Operator};
use super::value::{begins_escape, escapes_are_whole};
use super::{UriTemplate, has_scheme};

/// The operators for extensions (RFC 6570 §2.2).
const RESERVED_OPERATORS: [char; 5] = ['=', ',', '!', '@', '|'];

impl UriTemplate {
    /// Parses a template: a scheme, then literals and expressions (RFC 6570 §2).
    ///
    /// # Errors
    /// [`UriTemplateError`]; its variants have examples.
    ///
    /// ```
    /// use edge_uri_template::UriTemplate;
    ///
    /// assert!(UriTemplate::parse("kb://documents/{slug}").is_ok());
    /// assert!(UriTemplate::parse("kb://documents/{slug").is_err());
    /// ```
    pub fn parse(template: &str) -> Result<Self, UriTemplateError> {
        let mut parts = template.split('{');
        let prefix = literal(parts.next().unwrap_or_default())?;
        if !has_scheme(&prefix) {
            return Err(UriTemplateError::Scheme);
        }
        let mut expressions = Vec::new();
        for part in parts {
            expressions.push(expression(part)?);
        }
        let template = Self { prefix, expressions };
        let mut names = FxHashSet::default();
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
}

/// Parses the text between two opening braces: an expression, and the literal after it.
fn expression(part: &str) -> Result<Expression, UriTemplateError> {
    let (expression, after) = part.split_once('}').ok_or(UriTemplateError::Brace)?;
    if let Some(operator) = expression.chars().next().filter(|first| RESERVED_OPERATORS.contains(first)) {
        return Err(UriTemplateError::Operator(operator));
    }
    let (operator, names) = Operator::split(expression).ok_or_else(|| UriTemplateError::Name(expression.to_owned()))?;
    let mut variables = Vec::new();
    for name in names.split(',') {
        variables.push(variable(name)?);
    }
    Ok(Expression::new(operator, variables, literal(after)?))
}

/// Parses the name of a variable (RFC 6570 §2.3).
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

/// Returns whether a name may contain `byte`, which may be a part of an escape (RFC 6570 §2.3).
pub(super) fn is_varchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'%')
}

/// Encodes a literal (RFC 6570 §2.1 and §3.1): characters that are not ASCII are percent-encoded.
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
