//! The scopes that a token grants.
//!
//! Source: RFC 6749 §3.3; 2026-07-28, basic/authorization, "Scope Selection Strategy" and "Runtime Insufficient Scope".

use crate::config::{self, ConfigError};

/// Returns the problem with a scope, or `None` if the scope is valid.
///
/// `offline_access` requests a refresh token from the authorization server. A resource server should not ask for it (2026-07-28,
/// basic/authorization).
pub(crate) fn problem(scope: &str) -> Option<&'static str> {
    let is_scope = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    if scope == "offline_access" {
        Some("names `offline_access`, which is not a scope of a resource server; remove it")
    } else if scope.is_empty() || !scope.bytes().all(is_scope) {
        Some("has a scope that is empty or has an invalid character; use printable ASCII without space, `\"` and `\\`")
    } else {
        None
    }
}

/// Parses a list of scopes separated by spaces, commas or line breaks.
pub(crate) fn parse_list(variable: &'static str, text: &str) -> Result<Vec<String>, ConfigError> {
    let scopes = config::list(text);
    match scopes.iter().find_map(|scope| problem(scope)) {
        None => Ok(scopes),
        Some(problem) => Err(ConfigError::new(variable, problem)),
    }
}

/// The scopes that include others.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScopeHierarchy(Vec<(String, Vec<String>)>);

impl ScopeHierarchy {
    /// Declares that `scope` includes `others`.
    pub(crate) fn add(&mut self, scope: String, others: Vec<String>) {
        self.0.push((scope, others));
    }

    /// Adds the scopes that `scopes` include, directly or indirectly.
    #[inline(never)]
    pub(crate) fn expand(&self, scopes: &mut Vec<String>) {
        let mut next = 0;
        while let Some(scope) = scopes.get(next).cloned() {
            next = next.saturating_add(1);
            for other in self.0.iter().filter(|(known, _)| *known == scope).flat_map(|(_, others)| others) {
                if !scopes.contains(other) {
                    scopes.push(other.clone());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_with_invalid_characters_are_rejected() {
        for (scope, is_valid) in [
            ("kb:write", true),
            ("https://example.com/scope", true),
            ("!#[]~", true),
            ("", false),
            ("a b", false),
            ("a\"b", false),
            ("a\\b", false),
            ("a\r\nb", false),
            ("\u{e9}", false),
            ("offline_access", false),
        ] {
            assert_eq!(problem(scope).is_none(), is_valid, "{scope:?}");
        }
    }

    /// Rule 104: a scope includes others directly and indirectly. A cycle of inclusions terminates.
    #[test]
    fn inclusion_of_scopes_is_transitive() {
        let mut hierarchy = ScopeHierarchy::default();
        for (scope, others) in [("admin", vec!["write"]), ("write", vec!["read"]), ("a", vec!["b"]), ("b", vec!["a"])] {
            hierarchy.add(scope.into(), others.into_iter().map(String::from).collect());
        }
        for (held, expected) in [
            (vec!["admin"], vec!["admin", "write", "read"]),
            (vec!["write", "x"], vec!["write", "x", "read"]),
            (vec!["read"], vec!["read"]),
            (vec!["a"], vec!["a", "b"]),
        ] {
            let mut scopes: Vec<_> = held.into_iter().map(String::from).collect();
            hierarchy.expand(&mut scopes);
            assert_eq!(scopes, expected);
        }
    }
}
