//! Sources: tools that are known only when a request asks for them.

use std::rc::Rc;

use futures::future::LocalBoxFuture;

use super::tool::Tool;
use crate::call::context::Context;

/// A provider of tools that are not known when the server is built, such as the tools of another MCP server.
///
/// The server's scopes, deadlines, hooks, pagination and limits apply to these tools as to any other.
pub trait Source {
    /// Returns the tool `name`, or `None` if no tool of this source can have this name. It sends nothing.
    fn tool(&self, name: &str) -> Option<Tool>;

    /// Returns the tools that the caller of `cx` can use.
    fn tools(&self, cx: &Context) -> LocalBoxFuture<'static, Found>;
}

/// The tools that a source found.
#[derive(Default)]
#[non_exhaustive]
pub struct Found {
    /// The tools, in their order.
    pub tools: Vec<Tool>,
    /// The parts of the source that could not be asked: the name of each part, and the problem.
    pub missing: Vec<(String, String)>,
}

impl Found {
    /// Creates a result with these tools.
    pub fn new(tools: impl IntoIterator<Item = Tool>) -> Self {
        Self { tools: tools.into_iter().collect(), missing: Vec::new() }
    }

    /// Adds a part of the source that could not be asked.
    #[must_use]
    pub fn missing(mut self, name: impl Into<String>, problem: impl Into<String>) -> Self {
        self.missing.push((name.into(), problem.into()));
        self
    }
}

/// The sources of a server.
pub(crate) type Sources = Vec<Rc<dyn Source>>;
