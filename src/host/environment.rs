//! What the deployment says.

use std::rc::Rc;

use super::rate_limit::RateLimit;

/// The variables, secrets and bindings of a deployment.
///
/// A function from names to values is one too, without bindings:
///
/// ```
/// use edge_mcp::host::Environment;
///
/// let environment = |name: &str| (name == "MCP_AUTH").then(|| "none".to_owned());
/// assert_eq!(environment.variable("MCP_AUTH").as_deref(), Some("none"));
/// ```
pub trait Environment {
    /// The variable or secret of that name, if it is set.
    fn variable(&self, name: &str) -> Option<String>;

    /// The rate limit that is bound to that name, if one is.
    fn rate_limit(&self, name: &str) -> Option<Rc<dyn RateLimit>>;
}

impl<F: Fn(&str) -> Option<String>> Environment for F {
    fn variable(&self, name: &str) -> Option<String> {
        self(name)
    }

    fn rate_limit(&self, _: &str) -> Option<Rc<dyn RateLimit>> {
        None
    }
}
