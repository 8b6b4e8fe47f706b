//! A configuration that cannot be served.

use std::fmt;

/// A setting is missing or wrong. The endpoint then answers every request with 503 and names it; it never serves without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The variable or secret, such as `MCP_STATIC_TOKENS`.
    pub variable: &'static str,
    /// What is wrong with it and what it should be. Never its value.
    pub problem: String,
}

impl ConfigError {
    /// `variable` has a `problem`.
    pub fn new(variable: &'static str, problem: impl Into<String>) -> Self {
        Self { variable, problem: problem.into() }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.variable, self.problem)
    }
}

impl std::error::Error for ConfigError {}
