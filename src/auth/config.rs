//! The error of a wrong configuration.

use std::fmt;

use crate::host::Environment;

/// A setting that is missing or wrong. The endpoint then answers every request with 503 and names the setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The variable or secret, such as `MCP_STATIC_TOKENS`.
    pub variable: &'static str,
    /// The mistake and its correction. It does not contain the value, because the value may be a secret.
    pub problem: String,
}

impl ConfigError {
    /// Creates an error about `variable`. The text of `problem` continues a sentence that begins with the variable.
    pub fn new(variable: &'static str, problem: impl Into<String>) -> Self {
        Self { variable, problem: problem.into() }
    }

    /// Adds the sentence of [`Environment::about_secrets`], if the error is about a secret that is not set.
    pub(crate) fn about_secrets(mut self, environment: &impl Environment) -> Self {
        let advice = environment.about_secrets();
        if self.problem.starts_with("is not set") && !advice.is_empty() {
            self.problem.push_str(". ");
            self.problem.push_str(advice);
        }
        self
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.variable, self.problem)
    }
}

impl std::error::Error for ConfigError {}

/// Splits a list at spaces, commas and line breaks. Empty values are left out.
pub(crate) fn list(text: &str) -> Vec<String> {
    let mut values = Vec::new();
    for value in text.split([' ', ',', '\n']).filter(|value| !value.is_empty()) {
        values.push(value.to_owned());
    }
    values
}
