//! The result of a check.

use std::fmt;

use super::size::{ToolSize, list_bytes, tokens};
use super::table::Rule;

/// The result of a check: the problems, and the sizes of the tools. Its text is a table of the sizes, followed by the problems.
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct Check {
    /// The problems, in the order of the [rules](super::RULES).
    pub problems: Vec<Problem>,
    /// The sizes of the tools, in the order of `tools/list`.
    pub tools: Vec<ToolSize>,
}

impl Check {
    /// Returns the number of bytes of all tools in `tools/list`.
    pub fn bytes(&self) -> usize {
        list_bytes(self.tools.iter().map(|tool| tool.bytes))
    }

    /// Returns the estimated number of tokens of all tools in `tools/list`.
    pub fn tokens(&self) -> usize {
        tokens(self.bytes())
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>8} {:>8}  tool", "bytes", "tokens")?;
        for tool in &self.tools {
            writeln!(f, "{:>8} {:>8}  {}", tool.bytes, tool.tokens(), tool.name)?;
        }
        writeln!(f, "{:>8} {:>8}  all tools", self.bytes(), self.tokens())?;
        if self.problems.is_empty() {
            return write!(f, "No problems.");
        }
        write!(f, "Problems:")?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n- {problem}"))
    }
}

/// A violation of a rule. Its text is one sentence: where the problem is, what it is, and what to do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Problem {
    /// The rule, with its source.
    pub rule: &'static Rule,
    /// The item that violates the rule, such as ``tool `greet` ``, or `server`.
    pub place: String,
    /// The problem and the remedy, as the predicate of a sentence about the item.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut place = self.place.chars();
        let first = place.next().map(|first| first.to_ascii_uppercase());
        write!(f, "{}{} {} (rule `{}`)", first.unwrap_or_default(), place.as_str(), self.text, self.rule.name)
    }
}
