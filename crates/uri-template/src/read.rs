//! The matcher: reads a URI once, from left to right.

use std::collections::BTreeMap;

use super::UriTemplate;
use super::expression::Expression;
use super::operator::Operator;
use super::parse::is_varchar;
use super::value;

type Variables = BTreeMap<String, String>;

impl UriTemplate {
    /// Returns the variables of `uri`, each decoded once, or `None` if the template does not match.
    ///
    /// Literals are compared byte by byte, including the case of letters and of percent-encoded bytes (RFC 6570 has no other rule).
    ///
    /// ```
    /// use edge_uri_template::UriTemplate;
    ///
    /// let template = UriTemplate::parse("kb://documents/{slug}")?;
    /// let variables = template.matches("kb://documents/a%20b").expect("a match");
    /// assert_eq!(variables["slug"], "a b");
    /// assert!(template.matches("kb://documents/a/b").is_none());
    /// assert!(template.matches("kb://documents/%2E%2E").is_none());
    /// # Ok::<_, edge_uri_template::UriTemplateError>(())
    /// ```
    pub fn matches(&self, uri: &str) -> Option<BTreeMap<String, String>> {
        Reader { rest: uri }.template(self)
    }
}

/// The matcher. `rest` is the unread part of the URI.
struct Reader<'u> {
    rest: &'u str,
}

impl Reader<'_> {
    fn template(&mut self, template: &UriTemplate) -> Option<Variables> {
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

    /// Reads variables by position.
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

    /// Reads variables by name, in the order of the template. A skipped variable is absent.
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

    /// Returns whether the unread part starts with `name`, and `name` is not only the start of a longer name.
    fn is_at_name(&self, name: &str) -> bool {
        visit(name.len());
        let goes_on = |byte| is_varchar(byte) || byte == b'.';
        self.rest.strip_prefix(name).is_some_and(|after| !after.bytes().next().is_some_and(goes_on))
    }

    fn literal(&mut self, literal: &str) -> Option<()> {
        visit(literal.len());
        self.rest = self.rest.strip_prefix(literal)?;
        Some(())
    }

    /// Counts the next bytes that a value of the operator may contain.
    fn run(&self, operator: &Operator) -> usize {
        let length = self.rest.bytes().take_while(|byte| operator.allow.writes(*byte)).count();
        visit(length);
        length
    }

    fn value(&mut self, operator: &Operator, length: usize) -> Option<String> {
        let (value, rest) = self.rest.split_at_checked(length)?;
        // `decode` makes three passes: it checks the escapes, decodes, and checks the value.
        visit(length.saturating_mul(3));
        self.rest = rest;
        value::decode(operator, value)
    }
}

/// Counts a pass over `bytes` bytes, and the byte at which it stops. Only the tests and the fuzz target use the count.
fn visit(bytes: usize) {
    #[cfg(any(test, fuzzing))]
    VISITS.set(VISITS.get().saturating_add(bytes).saturating_add(1));
    #[cfg(not(any(test, fuzzing)))]
    let _ = bytes;
}

#[cfg(any(test, fuzzing))]
thread_local! {
    static VISITS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(any(test, fuzzing))]
impl UriTemplate {
    /// Returns the number of bytes that `matches` visits.
    #[doc(hidden)]
    pub fn visits(&self, uri: &str) -> usize {
        VISITS.set(0);
        let _ = self.matches(uri);
        VISITS.get()
    }
}
