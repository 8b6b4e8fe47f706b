//! The structure that the indentation of lines shows: objects, lists, and the values in them.

use serde_json::{Map, Value};

use super::lines::{Line, Lines, Mistake, ends_token, is_blank};
use super::scalar::Values;
use super::{inline, literal};

/// Reads the values of a frontmatter. The recursion is bounded by the depth that [`Values`] permits.
pub(super) struct Reader<'t> {
    lines: Lines<'t>,
    values: Values,
}

impl<'t> Reader<'t> {
    pub(super) fn new(lines: Lines<'t>) -> Self {
        Self { lines, values: Values::default() }
    }

    pub(super) fn document(mut self) -> Result<Map<String, Value>, Mistake> {
        let Some(first) = self.lines.peek()? else {
            return Err(Mistake { line: 1, problem: "must be followed by lines such as `name: refunds`" });
        };
        self.values.count(0).map_err(|problem| first.mistake(problem))?;
        let object = self.object(first.indent, 0)?;
        match self.lines.peek()? {
            None => Ok(object),
            Some(line) => Err(line.mistake("must have a key and a value, such as `name: refunds`")),
        }
    }

    /// Reads the lines of an object, whose keys are in the column `indent`.
    fn object(&mut self, indent: usize, depth: usize) -> Result<Map<String, Value>, Mistake> {
        let mut object = Map::new();
        while let Some(line) = self.lines.peek()?.filter(|line| line.indent >= indent) {
            if line.indent > indent {
                return Err(
                    line.mistake("is indented too far, or continues a text: write the text in one line, or use `>-`")
                );
            }
            if is_item(line.text) {
                break;
            }
            let key = inline::key(line.text).map_err(|problem| line.mistake(problem))?;
            let (name, rest) =
                key.ok_or_else(|| line.mistake("must have a key and a value, such as `name: refunds`"))?;
            self.lines.skip();
            let value = self.value(rest, line, indent, depth.saturating_add(1), true)?;
            if object.insert(name, value).is_some() {
                return Err(line.mistake("has a key that occurs twice"));
            }
        }
        Ok(object)
    }

    /// Reads the lines of a list, whose dashes are in the column `indent`.
    fn list(&mut self, indent: usize, depth: usize) -> Result<Vec<Value>, Mistake> {
        let mut list = Vec::new();
        while let Some(line) = self.lines.peek()?.filter(|line| line.indent >= indent && is_item(line.text)) {
            if line.indent > indent {
                return Err(line.mistake("is indented too far"));
            }
            let after = line.text.strip_prefix('-').unwrap_or_default();
            let text = after.trim_start_matches(is_blank);
            let is_key = || inline::key(text).map(|key| key.is_some());
            let is_nested = is_item(text) || is_key().map_err(|problem| line.mistake(problem))?;
            if is_nested && !text.is_empty() {
                // The object or the list begins behind the dash.
                let indent = indent.saturating_add(line.text.len()).saturating_sub(text.len());
                if after.trim_start_matches(' ').starts_with('\t') {
                    return Err(line.mistake("has a tab behind the dash: use a space"));
                }
                self.lines.replace(Line { indent, text, ..line });
                list.push(self.nested(line, depth.saturating_add(1))?);
            } else {
                self.lines.skip();
                list.push(self.value(text, line, indent, depth.saturating_add(1), false)?);
            }
        }
        Ok(list)
    }

    /// Reads the object or the list that begins at the next line.
    fn nested(&mut self, of: Line<'t>, depth: usize) -> Result<Value, Mistake> {
        self.values.count(depth).map_err(|problem| of.mistake(problem))?;
        match self.lines.peek()? {
            Some(line) if is_item(line.text) => self.list(line.indent, depth).map(Value::Array),
            Some(line) => self.object(line.indent, depth).map(Value::Object),
            None => Ok(Value::Null),
        }
    }

    /// Reads the value that begins with `text`, the rest of `line`. `indent` is the column of the key or the dash before it. The dashes of a list
    /// may be in the column of its key.
    fn value(
        &mut self,
        text: &'t str,
        line: Line<'t>,
        indent: usize,
        depth: usize,
        is_of_key: bool,
    ) -> Result<Value, Mistake> {
        if text.is_empty() || text.starts_with('#') {
            let Some(next) = self
                .lines
                .peek()?
                .filter(|next| next.indent > indent || is_of_key && next.indent == indent && is_item(next.text))
            else {
                return Err(line.mistake("has no value: add one, or remove the key"));
            };
            let is_nested =
                is_item(next.text) || inline::key(next.text).map_err(|problem| next.mistake(problem))?.is_some();
            if is_nested {
                return self.nested(next, depth);
            }
            self.lines.skip();
            return self.scalar(next.text, next, indent, depth);
        }
        self.scalar(text, line, indent, depth)
    }

    fn scalar(&mut self, text: &'t str, line: Line<'t>, indent: usize, depth: usize) -> Result<Value, Mistake> {
        self.values.count(depth).map_err(|problem| line.mistake(problem))?;
        if text.starts_with(['|', '>']) {
            return literal::read(&mut self.lines, text, line, indent).map(Value::String);
        }
        inline::value(&mut self.values, text, depth).map_err(|problem| line.mistake(problem))
    }
}

/// Returns whether a text is an item of a list.
fn is_item(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(ends_token)
}
