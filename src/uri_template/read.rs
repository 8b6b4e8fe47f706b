//! Reading a URI, once, from left to right.

use std::collections::BTreeMap;

use super::UriTemplate;
use super::expression::Expression;
use super::operator::Operator;
use super::parse::is_varchar;
use super::value;

type Variables = BTreeMap<String, String>;

/// A URI, as far as it is not read yet.
pub(super) struct Reader<'u> {
    rest: &'u str,
    /// Bytes looked at. A pass over a part of the URI or of the template is added where it is made.
    steps: usize,
}

impl<'u> Reader<'u> {
    pub(super) fn new(uri: &'u str) -> Self {
        Self { rest: uri, steps: 0 }
    }

    pub(super) fn steps(&self) -> usize {
        self.steps
    }

    pub(super) fn template(&mut self, template: &UriTemplate) -> Option<Variables> {
        let mut found = Variables::new();
        self.literal(&template.prefix)?;
        for expression in &template.expressions {
            if expression.operator.named {
                self.parameters(expression, &mut found)?;
            } else {
                self.values(expression, &mut found)?;
            }
            self.literal(&expression.literal)?;
        }
        self.rest.is_empty().then_some(found)
    }

    /// Variables that are told by their place.
    fn values(&mut self, expression: &Expression, found: &mut Variables) -> Option<()> {
        let operator = expression.operator;
        let mut lead = operator.first;
        let mut names = expression.variables.iter().peekable();
        while let Some(name) = names.next() {
            self.literal(lead)?;
            let shared = if names.peek().is_some() { 0 } else { expression.shared };
            let length = self.run(operator).checked_sub(shared)?;
            found.insert(name.clone(), self.value(operator, length)?);
            lead = operator.sep;
        }
        Some(())
    }

    /// Variables that are told by their names, in the order of the template. One that is passed over is not come back to.
    fn parameters(&mut self, expression: &Expression, found: &mut Variables) -> Option<()> {
        let operator = expression.operator;
        let mut lead = operator.first;
        let mut names = expression.variables.iter();
        while !names.as_slice().is_empty() && self.rest.starts_with(lead) {
            self.literal(lead)?;
            let name = names.find(|name| self.is_at_name(name))?;
            self.literal(name)?;
            let value = self.rest.strip_prefix('=').and_then(|after| after.bytes().next());
            let is_empty = !value.is_some_and(|byte| operator.allow.writes(byte));
            self.literal(if is_empty { operator.ifemp } else { "=" })?;
            let length = if is_empty { 0 } else { self.run(operator) };
            found.insert(name.clone(), self.value(operator, length)?);
            lead = operator.sep;
        }
        Some(())
    }

    /// Whether `name` is next, and not a longer one that begins with it.
    fn is_at_name(&mut self, name: &str) -> bool {
        self.look(name.len());
        let goes_on = |byte| is_varchar(byte) || byte == b'.';
        self.rest.strip_prefix(name).is_some_and(|after| !after.bytes().next().is_some_and(goes_on))
    }

    fn literal(&mut self, literal: &str) -> Option<()> {
        self.look(literal.len());
        self.rest = self.rest.strip_prefix(literal)?;
        Some(())
    }

    /// How many bytes from here on the operator could have written.
    fn run(&mut self, operator: &Operator) -> usize {
        let length = self.rest.bytes().take_while(|byte| operator.allow.writes(*byte)).count();
        self.look(length);
        length
    }

    fn value(&mut self, operator: &Operator, length: usize) -> Option<String> {
        let (value, rest) = self.rest.split_at_checked(length)?;
        // To check its escapes, to decode it, to check the value.
        self.look(length.saturating_mul(3));
        self.rest = rest;
        value::decode(operator, value)
    }

    /// Counts a pass over so many bytes, and the byte at which it stops.
    fn look(&mut self, bytes: usize) {
        self.steps = self.steps.saturating_add(bytes).saturating_add(1);
    }
}
