//! Configuration: the variables of an environment, the error about one of them, and the URLs to which tokens and keys may be sent.

use std::fmt;

use http::header::{ACCEPT, HeaderValue};
use http::{Method, Request};

use crate::host::{Environment, is_local, origin_of};
use crate::text::{Text, has_uri_characters};

/// A setting or a definition that is missing or wrong. The endpoint then answers every request with 503 and names it.
///
/// It is the error of an endpoint function: `?` converts a [`BuildError`](crate::BuildError) into it, and in a Worker a `worker::Error`. Convert any
/// other error with [`new`](Self::new):
///
/// ```
/// use edge_mcp::host::Environment;
/// use edge_mcp::{ConfigError, Variables};
///
/// struct Pages(u32);
///
/// fn pages(env: &dyn Environment) -> Result<Pages, ConfigError> {
///     let pages = Variables::of(env).required("PAGES", "the number of pages")?;
///     // The error must not contain the value, because everybody sees it.
///     let pages = pages.parse().map_err(|_| ConfigError::new("PAGES", "must be a number, such as 20"))?;
///     Ok(Pages(pages))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The variable or secret, such as `MCP_STATIC_TOKENS`, or the definition, such as `the tool "greet"`.
    pub variable: Text,
    /// The mistake and its correction. It does not contain the value, because the value may be a secret.
    pub problem: String,
    /// Whether callers may see the error. The log always has it.
    is_public: bool,
}

impl ConfigError {
    /// Creates an error about `variable`. The text of `problem` continues a sentence that begins with the variable.
    pub fn new(variable: impl Into<Text>, problem: impl Into<String>) -> Self {
        Self { variable: variable.into(), problem: problem.into(), is_public: true }
    }

    /// Returns whether callers may see the error.
    pub(crate) fn is_public(&self) -> bool {
        self.is_public
    }

    /// Creates an error whose text is only for the log.
    #[cfg(feature = "worker")]
    pub(crate) fn private(variable: &'static str, problem: String) -> Self {
        Self { is_public: false, ..Self::new(variable, problem) }
    }

    /// Adds the sentence of [`Environment::about_secrets`], if the error is about a secret that is not set.
    pub(crate) fn about_secrets(mut self, environment: &dyn Environment) -> Self {
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

/// The variables and secrets of an environment.
///
/// The errors name the variable and never contain its value. If the endpoint function returns such an error, every request gets a 503.
///
/// ```
/// use edge_mcp::host::Environment;
/// use edge_mcp::testing::variables;
/// use edge_mcp::{ConfigError, Variables};
///
/// struct Rates {
///     url: String,
///     key: String,
///     currency: Option<String>,
/// }
///
/// fn rates(env: &dyn Environment) -> Result<Rates, ConfigError> {
///     let env = Variables::of(env);
///     Ok(Rates {
///         url: env.required("RATES_URL", "the URL of the exchange rates")?,
///         key: env.secret("RATES_KEY", "the key for the exchange rates")?,
///         currency: env.get("RATES_CURRENCY")?,
///     })
/// }
///
/// let missing = rates(&variables(&[("RATES_URL", "https://rates.example.com")])).err().expect("the key is missing");
/// assert_eq!(missing.to_string(), "RATES_KEY is not set: set it to the key for the exchange rates");
/// ```
#[derive(Clone, Copy)]
pub struct Variables<'e>(&'e dyn Environment);

impl<'e> Variables<'e> {
    /// Returns the variables of an environment, such as the environment of a Worker.
    pub fn of(environment: &'e dyn Environment) -> Self {
        Self(environment)
    }

    /// Returns the value of a variable or secret without the spaces around it. Returns `None` if it is not set or empty.
    ///
    /// # Errors
    /// Fails if the value is an array or a table. A configuration file can contain them, and the environment passes them as JSON.
    pub fn get(&self, name: &'static str) -> Result<Option<String>, ConfigError> {
        let value = self.0.variable(name).unwrap_or_default();
        let value = value.trim();
        if value.starts_with("[\"") || value.starts_with("{\"") {
            let problem =
                "must be a string, not an array or a table: separate the values of a list by spaces or commas";
            return Err(ConfigError::new(name, problem));
        }
        Ok((!value.is_empty()).then(|| value.to_owned()))
    }

    /// Returns the value of a variable that must be set. `what` completes the sentence "set it to" of the error.
    ///
    /// # Errors
    /// Those of [`get`](Self::get), and the error that the variable is not set.
    pub fn required(&self, name: &'static str, what: &str) -> Result<String, ConfigError> {
        self.get(name)?.ok_or_else(|| ConfigError::new(name, format!("is not set: set it to {what}")))
    }

    /// Returns the value of a secret that must be set. `what` completes the sentence "set it to" of the error.
    ///
    /// # Errors
    /// Those of [`required`](Self::required). The error about a secret that is not set ends with [`Environment::about_secrets`].
    pub fn secret(&self, name: &'static str, what: &str) -> Result<String, ConfigError> {
        self.required(name, what).map_err(|error| self.about_secret(error))
    }

    /// Returns the values of a variable that is a list.
    pub(crate) fn list(&self, name: &'static str) -> Result<Vec<String>, ConfigError> {
        Ok(list(&self.get(name)?.unwrap_or_default()))
    }

    /// Returns whether a variable has the second of two values. Returns `None` if it is not set.
    pub(crate) fn choice(&self, name: &'static str, [no, yes]: [&str; 2]) -> Result<Option<bool>, ConfigError> {
        match self.get(name)? {
            None => Ok(None),
            Some(value) if value == no || value == yes => Ok(Some(value == yes)),
            Some(_) => Err(ConfigError::new(name, format!("must be \"{yes}\" or \"{no}\""))),
        }
    }

    /// Returns the error about a secret, with the advice of the environment if the secret is not set.
    pub(crate) fn about_secret(&self, error: ConfigError) -> ConfigError {
        error.about_secrets(self.0)
    }
}

/// Splits a list at spaces, commas and line breaks. Empty values are left out.
pub(crate) fn list(text: &str) -> Vec<String> {
    let mut values = Vec::new();
    for value in text.split([' ', ',', '\n']).filter(|value| !value.is_empty()) {
        values.push(value.to_owned());
    }
    values
}

/// An `https:` URL, or an `http:` URL on localhost. It has no user name and no fragment.
#[derive(Clone, PartialEq, Eq)]
pub struct SecureUrl {
    text: String,
    /// The length of the origin at the start of the text, in bytes.
    origin: usize,
}

impl fmt::Debug for SecureUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl SecureUrl {
    /// Parses a URL and keeps its spelling.
    ///
    /// # Errors
    /// The problem with the URL. The text continues a sentence that begins with the name of the setting.
    ///
    /// ```
    /// use edge_mcp::auth::SecureUrl;
    ///
    /// assert!(SecureUrl::parse("https://example.com/mcp").is_ok());
    /// assert!(SecureUrl::parse("http://localhost:8787/mcp").is_ok());
    /// assert_eq!(SecureUrl::parse("http://example.com"), Err("must be an https: URL, unless it is on localhost"));
    /// ```
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        const NOT_A_URL: &str = "must be a URL such as https://example.com/mcp, in ASCII";
        let uri: http::Uri = text.parse().map_err(|_| NOT_A_URL)?;
        let (Some(scheme), Some(authority), true) = (uri.scheme_str(), uri.authority(), has_uri_characters(text))
        else {
            return Err(NOT_A_URL);
        };
        if authority.host().is_empty() || authority.as_str().contains('@') {
            return Err("must be a URL with a host, and without a user name");
        }
        if text.contains('#') {
            return Err("must be a URL without a fragment");
        }
        let is_secure =
            scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http") && is_local(authority.host());
        if !is_secure {
            return Err("must be an https: URL, unless it is on localhost");
        }
        let origin = origin_of(text).ok_or(NOT_A_URL)?.len();
        Ok(Self { text: text.to_owned(), origin })
    }

    /// Returns the URL in its original spelling.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns scheme, host and port in their original spelling.
    pub fn origin(&self) -> &str {
        self.text.get(..self.origin).unwrap_or_default()
    }

    /// Returns the path and the query.
    pub fn path(&self) -> &str {
        self.text.get(self.origin..).unwrap_or_default()
    }

    /// Returns whether the scheme is `https:`. The scheme of a URL on localhost may be `http:`.
    #[cfg(feature = "client")]
    pub(crate) fn is_https(&self) -> bool {
        self.origin().get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"))
    }

    /// Returns the URL without its query, which may be a secret.
    #[cfg(feature = "client")]
    pub(crate) fn without_query(&self) -> &str {
        self.text.split('?').next().unwrap_or_default()
    }

    /// Returns whether the URL has a query.
    pub(crate) fn has_query(&self) -> bool {
        self.text.contains('?')
    }

    /// Creates a request for JSON to this URL.
    pub(crate) fn request(&self, method: Method, body: String) -> Request<String> {
        let mut request = Request::new(body);
        *request.method_mut() = method;
        // `parse` has checked that the text is a `Uri`, so the default is never used.
        *request.uri_mut() = self.text.parse().unwrap_or_default();
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static("application/json"));
        request
    }

    /// Returns the URL of a document about this URL: `/.well-known/NAME` between the origin and the path (RFC 8414 §3, RFC 9728 §3.1).
    pub(crate) fn well_known(&self, name: &str) -> String {
        format!("{}/.well-known/{name}{}", self.origin(), self.path().trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_https_and_localhost_urls_are_accepted() {
        for (text, passes) in [
            ("https://example.com", true),
            ("https://example.com:8443/a/b?c=d", true),
            ("HTTPS://Example.com/mcp/", true),
            ("http://localhost:8787/mcp", true),
            ("http://127.0.0.1/", true),
            ("http://[::1]:1/", true),
            ("http://example.com/", false),
            ("http://localhost.example.com/", false),
            ("http://localhost@example.com/", false),
            ("https://user:secret@example.com/", false),
            ("https://example.com/#top", false),
            ("https://exämple.com/", false),
            ("https://example.com/\u{e9}", false),
            ("https://example.com/a b", false),
            ("https://example.com/\r\nX: y", false),
            ("https://example.com/\"", false),
            ("https:///mcp", false),
            ("ftp://example.com/", false),
            ("example.com/mcp", false),
            ("/mcp", false),
            ("", false),
        ] {
            assert_eq!(SecureUrl::parse(text).is_ok(), passes, "{text:?}");
        }
    }

    #[test]
    fn the_well_known_segment_is_between_origin_and_path() {
        for (text, expected) in [
            ("https://a.example/public/mcp", "https://a.example/.well-known/x/public/mcp"),
            ("https://a.example/", "https://a.example/.well-known/x"),
            ("https://a.example", "https://a.example/.well-known/x"),
        ] {
            assert_eq!(SecureUrl::parse(text).expect("a URL").well_known("x"), expected);
        }
    }
}
