//! The check before publishing: what directories, models and client libraries reject, although the protocol allows it.
//!
//! `examples.json` has a schema for each rule about schemas. The end-to-end tests run client libraries over these schemas.

mod schemas;
mod table;
mod tools;
mod whole;

use std::fmt;

pub use table::{RULES, Rule};
pub use tools::{SizeLimits, ToolSize};

use self::table::RuleTest;
use self::tools::{ListedTool, list_bytes, tokens};
pub(crate) use self::whole::CallerAccess;
use self::whole::CheckedServer;
use super::builder::McpServer;

/// The result of a check: the problems, and the sizes of the tools. Its text is a table of the sizes, followed by the problems.
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct Check {
    /// The problems, in the order of the [rules](RULES).
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

impl McpServer {
    /// Checks the server against the rules of directories, and against what models and client libraries can read. It also measures the
    /// tools. Run it in a test: a Worker that does not call this method does not contain the rules.
    ///
    /// Tools of sources, such as the mounted servers of a gateway, are not checked. [`Endpoint::check`](crate::Endpoint::check) also checks
    /// the access to the server. Page: `docs/check.md`.
    ///
    /// ```
    /// use edge_mcp::check::SizeLimits;
    /// use edge_mcp::{McpServer, Tool};
    ///
    /// let greet = Tool::new("greet", "Says hello.", || async { "Hello" }).read_only().closed_world();
    /// let server = McpServer::builder("greeter", "1.0.0").description("Greets.").tool(greet).build()?;
    /// let check = server.check(SizeLimits::default());
    /// assert_eq!(check.problems[0].to_string(), "Tool `greet` has no title: call `Tool::title` (rule `title`)");
    /// # Ok::<_, edge_mcp::BuildError>(())
    /// ```
    pub fn check(&self, limits: SizeLimits) -> Check {
        self.check_with_access(limits, None)
    }

    /// Checks the server, and the access to it at an endpoint.
    pub(crate) fn check_with_access(&self, limits: SizeLimits, entry: Option<CallerAccess>) -> Check {
        let tools: Vec<_> = self.tools().filter_map(ListedTool::new).collect();
        let whole = CheckedServer { definitions: &self.definitions, tools: &tools, limits, entry };
        let mut problems = Vec::new();
        for rule in RULES {
            let found: Vec<(String, String)> = match rule.test {
                RuleTest::Tool(test) => {
                    tools.iter().filter_map(|tool| Some((tool.place(), test(tool, limits)?))).collect()
                }
                // The first place is enough: other places of the tool often have the same cause.
                RuleTest::Schema(test) => {
                    tools.iter().filter_map(|tool| Some((tool.place(), tool.first_schema_problem(test)?))).collect()
                }
                RuleTest::Whole(test) => test(&whole).into_iter().map(|text| ("server".to_owned(), text)).collect(),
            };
            problems.extend(found.into_iter().map(|(place, text)| Problem { rule, place, text }));
        }
        Check { problems, tools: tools.iter().map(ListedTool::size).collect() }
    }
}

#[cfg(test)]
mod tests;
