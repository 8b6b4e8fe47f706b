//! Which URIs a template stands for, and what its variables are then.
//!
//! RFC 6570, level 1: literals and `{name}`. A variable stands for one or more characters that simple expansion (§3.2.2)
//! produces: unreserved ones, and percent-encoded bytes. It ends where the literal after it first begins, so that each
//! URI is read once, from left to right, and nothing is tried twice.

use std::collections::BTreeMap;
use std::fmt;

use percent_encoding::percent_decode_str;

/// A template that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriTemplate {
    prefix: String,
    /// Each variable, with the literal that follows it.
    variables: Vec<(String, String)>,
}

/// Why a template is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UriTemplateError {
    /// `kb://{slug`: a brace has no partner.
    Brace,
    /// `kb://{+path}`: not a plain name of letters, digits and `_`.
    Expression(String),
    /// `kb://{a}/{a}`
    Repeated(String),
    /// `kb://{a}{b}`: nothing says where the first variable ends.
    Adjacent(String),
    /// `{slug}`: the scheme is missing.
    Scheme,
}

impl fmt::Display for UriTemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Brace => write!(f, "a brace has no partner"),
            Self::Expression(name) => write!(f, "`{{{name}}}` is not a plain variable such as `{{name}}`"),
            Self::Repeated(name) => write!(f, "the variable `{name}` occurs twice"),
            Self::Adjacent(name) => write!(f, "nothing separates `{{{name}}}` from the variable before it"),
            Self::Scheme => write!(f, "it must begin with a scheme, such as `kb://`"),
        }
    }
}

impl std::error::Error for UriTemplateError {}

impl UriTemplate {
    /// Reads a template.
    ///
    /// # Errors
    /// [`UriTemplateError`], whose variants show what leads to each.
    ///
    /// ```
    /// use edge_mcp::server::uri_template::UriTemplate;
    ///
    /// let template = UriTemplate::parse("kb://documents/{slug}")?;
    /// let variables = template.matches("kb://documents/a%20b").expect("it stands for this URI");
    /// assert_eq!(variables["slug"], "a b");
    /// assert!(template.matches("kb://documents/a/b").is_none());
    /// # Ok::<_, edge_mcp::server::uri_template::UriTemplateError>(())
    /// ```
    pub fn parse(template: &str) -> Result<Self, UriTemplateError> {
        let mut parts = template.split('{');
        let prefix = parts.next().unwrap_or_default().to_owned();
        if prefix.contains('}') {
            return Err(UriTemplateError::Brace);
        }
        if !has_scheme(&prefix) {
            return Err(UriTemplateError::Scheme);
        }
        let mut variables: Vec<(String, String)> = Vec::new();
        for part in parts {
            let (name, literal) = part.split_once('}').ok_or(UriTemplateError::Brace)?;
            if literal.contains('}') {
                return Err(UriTemplateError::Brace);
            }
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                return Err(UriTemplateError::Expression(name.to_owned()));
            }
            if variables.iter().any(|(known, _)| known == name) {
                return Err(UriTemplateError::Repeated(name.to_owned()));
            }
            if variables.last().is_some_and(|(_, literal)| literal.is_empty()) {
                return Err(UriTemplateError::Adjacent(name.to_owned()));
            }
            variables.push((name.to_owned(), literal.to_owned()));
        }
        Ok(Self { prefix, variables })
    }

    /// The variables of `uri`, decoded once; `None` if the template does not stand for it.
    ///
    /// A value that decodes to `.`, `..`, or something with a NUL or a byte that is no UTF-8 is none.
    pub fn matches(&self, uri: &str) -> Option<BTreeMap<String, String>> {
        let mut rest = uri.strip_prefix(self.prefix.as_str())?;
        let mut variables = BTreeMap::new();
        for (name, literal) in &self.variables {
            let end = if literal.is_empty() { rest.len() } else { rest.find(literal.as_str())? };
            let (value, after) = rest.split_at_checked(end)?;
            variables.insert(name.clone(), decode(value)?);
            rest = after.strip_prefix(literal.as_str())?;
        }
        rest.is_empty().then_some(variables)
    }
}

/// Whether `uri` begins with a scheme (RFC 3986 §3.1).
pub fn has_scheme(uri: &str) -> bool {
    let Some((scheme, _)) = uri.split_once(':') else { return false };
    let begins = scheme.starts_with(|first: char| first.is_ascii_alphabetic());
    begins && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

fn decode(value: &str) -> Option<String> {
    let mut bytes = value.bytes();
    while let Some(byte) = bytes.next() {
        let fits = match byte {
            b'%' => bytes.next()?.is_ascii_hexdigit() && bytes.next()?.is_ascii_hexdigit(),
            _ => byte.is_ascii_alphanumeric() || b"-._~".contains(&byte),
        };
        if !fits {
            return None;
        }
    }
    let decoded = percent_decode_str(value).decode_utf8().ok()?;
    let refused = decoded.is_empty() || decoded == "." || decoded == ".." || decoded.contains('\0');
    (!refused).then(|| decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_stands_for_some_uris() {
        type Variables = Option<&'static [(&'static str, &'static str)]>;
        let cases: &[(&str, &str, Variables)] = &[
            ("kb://documents/{slug}", "kb://documents/a", Some(&[("slug", "a")])),
            ("kb://documents/{slug}", "kb://documents/caf%C3%A9", Some(&[("slug", "café")])),
            ("kb://documents/{slug}", "kb://documents/a%252Fb", Some(&[("slug", "a%2Fb")])),
            ("kb://documents/{slug}", "kb://documents/", None),
            ("kb://documents/{slug}", "kb://documents/a/b", None),
            ("kb://documents/{slug}", "kb://documents/a?b", None),
            ("kb://documents/{slug}", "kb://other/a", None),
            ("kb://documents/{slug}", "KB://documents/a", None),
            ("a://{x}/data", "a://1/data", Some(&[("x", "1")])),
            ("a://{x}/data", "a://1/dat", None),
            ("a://{x}/data", "a://1/data/", None),
            ("a://{x}/{y}.md", "a://1/b.md", Some(&[("x", "1"), ("y", "b")])),
            ("a://fixed", "a://fixed", Some(&[])),
        ];
        for (template, uri, expected) in cases {
            let template = UriTemplate::parse(template).expect("well-formed");
            let expected = expected.map(|pairs| pairs.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect());
            assert_eq!(template.matches(uri), expected, "{uri}");
        }
    }

    /// Rule 67: no way out of what the template names.
    #[test]
    fn a_variable_is_no_path_and_no_trick() {
        let template = UriTemplate::parse("kb://documents/{slug}").expect("well-formed");
        for value in ["..", "%2e%2E", ".", "a%00b", "a%", "a%4", "a%zz", "%ff", "%C3", "a b", "é", "../x", "a\\b"] {
            assert_eq!(template.matches(&format!("kb://documents/{value}")), None, "{value}");
        }
    }

    #[test]
    fn a_bad_template_is_refused() {
        for (template, error) in [
            ("{slug}", UriTemplateError::Scheme),
            ("documents/{slug}", UriTemplateError::Scheme),
            ("kb://{slug", UriTemplateError::Brace),
            ("kb://slug}", UriTemplateError::Brace),
            ("kb://{a}b}", UriTemplateError::Brace),
            ("kb://{}", UriTemplateError::Expression(String::new())),
            ("kb://{+path}", UriTemplateError::Expression("+path".into())),
            ("kb://{a}{b}", UriTemplateError::Adjacent("b".into())),
            ("kb://{a}/{a}", UriTemplateError::Repeated("a".into())),
        ] {
            assert_eq!(UriTemplate::parse(template), Err(error), "{template}");
        }
    }
}
