//! URI templates (RFC 6570, levels 1 to 3), matched and expanded.
//!
//! [`UriTemplate::matches`] reads variables from a URI, and [`UriTemplate::expand`] makes a URI from variables. Each is the inverse of
//! the other.
//!
//! ```
//! # use std::collections::BTreeMap;
//! use edge_uri_template::UriTemplate;
//!
//! let files = UriTemplate::parse("repo://{owner}/{repo}{/file}{?ref,page}")?;
//! let variables = files.matches("repo://rust-lang/book/README.md?ref=main").expect("a match");
//! assert_eq!(variables["file"], "README.md");
//! assert_eq!(variables.get("page"), None);
//! assert_eq!(files.expand(&variables)?, "repo://rust-lang/book/README.md?ref=main");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! # Expressions
//!
//! | expression | expansion | characters of a value that are not escaped |
//! |---|---|---|
//! | `{x}`, `{x,y}` | `1`, `1,2` | letters, digits and `-._~` |
//! | `{+x}` | `1` | also `:/?#[]@!$&'()*+,;=` |
//! | `{#x}` | `#1` | the same as for `{+x}` |
//! | `{.x}` | `.1` | letters, digits and `-._~` |
//! | `{/x}`, `{/x,y}` | `/1`, `/1/2` | letters, digits and `-._~` |
//! | `{;x}`, `{;x,y}` | `;x=1`, `;x=1;y=2` | letters, digits and `-._~` |
//! | `{?x}`, `{?x,y}` | `?x=1`, `?x=1&y=2` | letters, digits and `-._~` |
//! | `{&x}`, `{&x,y}` | `&x=1`, `&x=1&y=2` | letters, digits and `-._~` |
//!
//! The variables of the first five operators are required, and their values must not be empty. The variables of the last three are
//! optional; an absent variable is not in the map. A URI must have them in the order of the template. An empty value is written as `?x=`
//! and `&x=`, but as `;x` (RFC 6570). Level 4 (`{x*}`, `{x:3}`) is rejected.
//!
//! # The end of a variable
//!
//! The matcher first reads all characters that the operator may write as the value. If the following literal starts with such characters,
//! the matcher removes them from the end of the value. So `{name}.md` and `{+path}/info` work. The matcher does not backtrack: its time
//! is linear in the length of the template and the URI. A template in which this rule cannot find the end of a variable is rejected:
//!
//! ```
//! use edge_uri_template::{UriTemplate, UriTemplateError};
//!
//! assert!(UriTemplate::parse("kb://{year}/{month}.md").is_ok());
//! let rejected = UriTemplate::parse("kb://{year}-{month}.md");
//! assert_eq!(rejected, Err(UriTemplateError::Ambiguous { variable: "year".into(), next: "-{month}".into() }));
//! ```
//!
//! # Values
//!
//! A value is percent-decoded exactly once, so `%252F` is `%2F` and not `/`. Unsafe values do not match: incomplete escapes, bytes that
//! are not UTF-8, NUL, and `.` or `..` between slashes or backslashes, escaped or not. [`UriTemplate::expand`] rejects
//! the variables that would not match. [`InvalidVariable`] lists the reasons.

mod error;
mod expression;
#[cfg(test)]
mod linear;
mod normalized;
mod operator;
mod parse;
mod read;
mod value;

use std::collections::BTreeMap;

pub use error::{ExpandError, InvalidVariable, UriTemplateError};
use expression::Expression;
pub use normalized::normalized;

/// A parsed URI template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriTemplate {
    /// The literal before the first expression.
    prefix: String,
    expressions: Vec<Expression>,
}

impl UriTemplate {
    /// Returns the URI for `variables` (RFC 6570 §3.2).
    ///
    /// # Errors
    /// [`ExpandError`] with the name of the variable, if [`matches`](Self::matches) would not return the same variables. RFC 6570
    /// allows some of these expansions.
    ///
    /// ```
    /// # use std::collections::BTreeMap;
    /// use edge_uri_template::{InvalidVariable, UriTemplate};
    ///
    /// let template = UriTemplate::parse("kb://documents/{slug}")?;
    /// let expand = |slug: &str| template.expand(&BTreeMap::from([("slug".into(), slug.into())]));
    /// assert_eq!(expand("a b")?, "kb://documents/a%20b");
    /// assert_eq!(expand("..").map_err(|error| error.reason), Err(InvalidVariable::DotSegment));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn expand(&self, variables: &BTreeMap<String, String>) -> Result<String, ExpandError> {
        let unknown = variables.keys().find(|name| !self.variables().any(|known| known == *name));
        if let Some(name) = unknown {
            return Err(ExpandError { variable: name.clone(), reason: InvalidVariable::Unknown });
        }
        let mut uri = self.prefix.clone();
        for expression in &self.expressions {
            expression.expand(variables, &mut uri)?;
        }
        Ok(uri)
    }

    /// Iterates over the names of the variables, in the order of the template.
    ///
    /// ```
    /// use edge_uri_template::UriTemplate;
    ///
    /// let template = UriTemplate::parse("kb://{shelf}/{book}{?page}")?;
    /// assert!(template.variables().eq(["shelf", "book", "page"]));
    /// # Ok::<_, edge_uri_template::UriTemplateError>(())
    /// ```
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.expressions.iter().flat_map(|expression| &expression.variables).map(String::as_str)
    }
}

/// Returns whether `uri` starts with a scheme (RFC 3986 §3.1).
pub fn has_scheme(uri: &str) -> bool {
    let Some((scheme, _)) = uri.split_once(':') else { return false };
    let begins = scheme.starts_with(|first: char| first.is_ascii_alphabetic());
    begins && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_recognized() {
        for (uri, has) in [
            ("kb://documents", true),
            ("urn:isbn:1", true),
            ("x:", true),
            ("git+ssh://a", true),
            ("", false),
            (":", false),
            ("kb", false),
            ("/kb://a", false),
            ("1kb://a", false),
            ("k b://a", false),
            ("é://a", false),
        ] {
            assert_eq!(has_scheme(uri), has, "{uri}");
        }
    }
}
