//! The configuration of a deployment.

use std::rc::Rc;

use super::rate_limit::RateLimit;
use super::task_objects::TaskObjects;

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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an environment",
    label = "expected the environment of a Worker, or a function of `&str` that returns `Option<String>`",
    note = "pass a map as a function: `&|name: &str| variables.get(name).cloned()`"
)]
pub trait Environment {
    /// Returns the variable or secret `name`, if it is set.
    fn variable(&self, name: &str) -> Option<String>;

    /// Returns a sentence that describes how to pass a secret to the program. Errors about a missing secret end with this sentence.
    ///
    /// The default implementation returns an empty text.
    fn about_secrets(&self) -> &'static str {
        ""
    }

    /// Returns the rate limit with the binding `name`, if there is one. The default implementation returns `None`.
    fn rate_limit(&self, name: &str) -> Option<RateLimit> {
        let _ = name;
        None
    }

    /// Returns the objects for durable tasks with the binding `name`, if there are any. The default implementation returns `None`.
    fn task_objects(&self, name: &str) -> Option<Rc<dyn TaskObjects>> {
        let _ = name;
        None
    }

    /// Returns the version of the program that is deployed, if it is known. The default implementation returns `None`.
    fn version(&self) -> Option<String> {
        None
    }
}

#[diagnostic::do_not_recommend]
impl<F: Fn(&str) -> Option<String>> Environment for F {
    fn variable(&self, name: &str) -> Option<String> {
        self(name)
    }
}
