//! The check before publishing: what directories, models and client libraries reject, although the protocol allows it.
//!
//! `table` has all rules, with their sources. `tools` and `schemas` have the rules about a tool and about its input schema, and `whole` has
//! those about the server. `listed` is a tool as `tools/list` has it, `size` has the sizes of tools, and `report` is the result.
//! `examples.json` has a schema for each rule about schemas. The end-to-end tests run client libraries over these schemas.

mod listed;
mod report;
mod schemas;
mod size;
mod table;
mod tools;
mod whole;

pub use report::{Check, Problem};
pub use size::{SizeLimits, ToolSize};
pub use table::{RULES, Rule};

use self::listed::ListedTool;
use self::table::RuleTest;
pub(crate) use self::whole::CallerAccess;
use self::whole::CheckedServer;
use super::builder::McpServer;

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
