//! Which URIs a template stands for, and what its variables are then: RFC 6570, levels 1 to 3, in both directions.
//!
//! [`UriTemplate::matches`] reads variables out of a URI, [`UriTemplate::expand`] writes a URI with them, and each undoes
//! the other.
//!
//! ```
//! # use std::collections::BTreeMap;
//! use edge_mcp::uri_template::UriTemplate;
//!
//! let files = UriTemplate::parse("repo://{owner}/{repo}{/file}{?ref,page}")?;
//! let variables = files.matches("repo://rust-lang/book/README.md?ref=main").expect("it stands for this URI");
//! assert_eq!(variables["file"], "README.md");
//! assert_eq!(variables.get("page"), None);
//! assert_eq!(files.expand(&variables)?, "repo://rust-lang/book/README.md?ref=main");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! # Expressions
//!
//! | written | stands for | a value may hold, unescaped |
//! |---|---|---|
//! | `{x}`, `{x,y}` | `1`, `1,2` | letters, digits and `-._~` |
//! | `{+x}` | `1` | those, and `:/?#[]@!$&'()*+,;=` |
//! | `{#x}` | `#1` | the same |
//! | `{.x}` | `.1` | letters, digits and `-._~` |
//! | `{/x}`, `{/x,y}` | `/1`, `/1/2` | the same |
//! | `{;x}`, `{;x,y}` | `;x=1`, `;x=1;y=2` | the same |
//! | `{?x}`, `{?x,y}` | `?x=1`, `?x=1&y=2` | the same |
//! | `{&x}`, `{&x,y}` | `&x=1`, `&x=1&y=2` | the same |
//!
//! The first five must have a value that is not empty. In the last three a parameter may be left out, and then the
//! variable is not in the map; those that are there come in the order of the template. An empty value is written as
//! RFC 6570 has it: `?x=` and `&x=`, but `;x`. Level 4 (`{x*}`, `{x:3}`) is refused.
//!
//! # Where a variable ends
//!
//! A variable takes all the characters that its operator could have written, and gives back those at the end that the
//! literal after it begins with. So `{name}.md` works, and `{+path}/info`. Nothing is tried twice: the time to match grows
//! with the length of the template and the URI, and no faster. Where this cannot tell the end of a variable, the template
//! is refused:
//!
//! ```
//! use edge_mcp::uri_template::{UriTemplate, UriTemplateError};
//!
//! assert!(UriTemplate::parse("kb://{year}/{month}.md").is_ok());
//! let refused = UriTemplate::parse("kb://{year}-{month}.md");
//! assert_eq!(refused, Err(UriTemplateError::Ambiguous { variable: "year".into(), next: "-{month}".into() }));
//! ```
//!
//! # What a value may be
//!
//! A value is percent-decoded exactly once, so that `%252F` is `%2F` and not `/`. A value that would be a trick is no
//! value: an escape that is broken, bytes that are no UTF-8, NUL, and a `.` or `..` between slashes or backslashes,
//! written plainly or percent-encoded. [`Refusal`] has the whole list, which [`UriTemplate::expand`] keeps to as well.

mod error;
mod expression;
mod normalized;
mod operator;
mod parse;
mod read;
mod value;

use std::collections::BTreeMap;

pub use error::{ExpandError, Refusal, UriTemplateError};
use expression::Expression;
pub(crate) use normalized::normalized;
use read::Reader;

/// A template that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriTemplate {
    /// Up to the first expression.
    prefix: String,
    expressions: Vec<Expression>,
}

impl UriTemplate {
    /// Reads a template: a scheme, and then literals and expressions (RFC 6570 §2).
    ///
    /// # Errors
    /// [`UriTemplateError`], whose variants show what leads to each.
    ///
    /// ```
    /// use edge_mcp::uri_template::UriTemplate;
    ///
    /// assert!(UriTemplate::parse("kb://documents/{slug}").is_ok());
    /// assert!(UriTemplate::parse("kb://documents/{slug").is_err());
    /// ```
    pub fn parse(template: &str) -> Result<Self, UriTemplateError> {
        parse::template(template)
    }

    /// The variables of `uri`, decoded once; `None` if the template does not stand for it.
    ///
    /// Letters in literals are compared as they are (RFC 6570 has no other rule), and so are percent-encoded bytes.
    ///
    /// ```
    /// use edge_mcp::uri_template::UriTemplate;
    ///
    /// let template = UriTemplate::parse("kb://documents/{slug}")?;
    /// let variables = template.matches("kb://documents/a%20b").expect("it stands for this URI");
    /// assert_eq!(variables["slug"], "a b");
    /// assert!(template.matches("kb://documents/a/b").is_none());
    /// assert!(template.matches("kb://documents/%2E%2E").is_none());
    /// # Ok::<_, edge_mcp::uri_template::UriTemplateError>(())
    /// ```
    pub fn matches(&self, uri: &str) -> Option<BTreeMap<String, String>> {
        Reader::new(uri).template(self)
    }

    /// The URI that has these variables (RFC 6570 §3.2).
    ///
    /// # Errors
    /// [`ExpandError`], which names the variable, where [`matches`](Self::matches) would not give these variables back.
    /// RFC 6570 would write something even then.
    ///
    /// ```
    /// # use std::collections::BTreeMap;
    /// use edge_mcp::uri_template::{Refusal, UriTemplate};
    ///
    /// let template = UriTemplate::parse("kb://documents/{slug}")?;
    /// let expand = |slug: &str| template.expand(&BTreeMap::from([("slug".into(), slug.into())]));
    /// assert_eq!(expand("a b")?, "kb://documents/a%20b");
    /// assert_eq!(expand("..").map_err(|error| error.reason), Err(Refusal::DotSegment));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn expand(&self, variables: &BTreeMap<String, String>) -> Result<String, ExpandError> {
        let unknown = variables.keys().find(|name| !self.variables().any(|known| known == *name));
        if let Some(name) = unknown {
            return Err(ExpandError { variable: name.clone(), reason: Refusal::Unknown });
        }
        let mut uri = self.prefix.clone();
        for expression in &self.expressions {
            expression.expand(variables, &mut uri)?;
        }
        Ok(uri)
    }

    /// The names of the variables, in the order of the template.
    ///
    /// ```
    /// use edge_mcp::uri_template::UriTemplate;
    ///
    /// let template = UriTemplate::parse("kb://{shelf}/{book}{?page}")?;
    /// assert!(template.variables().eq(["shelf", "book", "page"]));
    /// # Ok::<_, edge_mcp::uri_template::UriTemplateError>(())
    /// ```
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.expressions.iter().flat_map(|expression| &expression.variables).map(String::as_str)
    }

    /// How many bytes were looked at to match `uri`, each time anew: for the tests that show that matching is linear.
    #[doc(hidden)]
    pub fn steps(&self, uri: &str) -> usize {
        let mut reader = Reader::new(uri);
        let _ = reader.template(self);
        reader.steps()
    }
}

/// Whether `uri` begins with a scheme (RFC 3986 §3.1).
pub(crate) fn has_scheme(uri: &str) -> bool {
    let Some((scheme, _)) = uri.split_once(':') else { return false };
    let begins = scheme.starts_with(|first: char| first.is_ascii_alphabetic());
    begins && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_is_a_letter_and_then_letters_digits_and_some_signs() {
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
