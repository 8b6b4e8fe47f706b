//! The configuration of a deployment.

use super::rate_limit::RateLimit;

/// The variables, secrets and bindings of a deployment.
///
/// A function from names to values is an environment without bindings:
///
/// ```
/// use edge_mcp::host::Environment;
///
/// let environment = |name: &str| (name == "MCP_AUTH").then(|| "none".to_owned());
/// assert_eq!(environment.variable("MCP_AUTH").as_deref(), Some("none"));
/// ```
pub trait Environment {
    /// Returns the variable or secret `name`, if it is set.
    fn variable(&self, name: &str) -> Option<String>;

    /// Returns the rate limit that is bound as `name`, if there is one. The default has none.
    fn rate_limit(&self, name: &str) -> Option<RateLimit> {
        let _ = name;
        None
    }
}

impl<F: Fn(&str) -> Option<String>> Environment for F {
    fn variable(&self, name: &str) -> Option<String> {
        self(name)
    }
}
