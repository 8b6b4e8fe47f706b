//! The data about a server that is not part of the protocol: id, release date, repository, packages and remotes.

use super::package::{Package, Remote, Repository, is_one_version};
use crate::limits::SERVER_JSON_NAME;
use crate::protocol::description::{Implementation, is_blank};
use crate::text::Text;

/// The data about a server that is not part of the protocol.
///
/// The builder checks each value when it gets the value, so the wasm module of a server without such data does not contain the checks.
#[derive(Clone, Default)]
pub(crate) struct RegistryData {
    pub id: Option<Text>,
    pub registry_name: Option<Text>,
    pub repository: Option<Repository>,
    pub release_date: Option<Text>,
    pub is_outdated: bool,
    pub canonical_package: Option<Text>,
    pub packages: Vec<Package>,
    pub remotes: Vec<Remote>,
    /// The first problem for which a registry would reject the server.
    pub problem: Option<String>,
}

pub(crate) fn id_problem(id: &str) -> Option<String> {
    slug(id).is_empty().then(|| "has an id without a letter a-z or a digit".into())
}

pub(crate) fn registry_name_problem(name: &str, version: &str) -> Option<String> {
    if !is_registry_name(name) {
        return Some("has a registry name that does not have the form `io.github.ada/weather`".into());
    }
    let problem = "has a registry name, so its version must be one version such as `1.0.2`, not a range";
    (!is_one_version(version)).then(|| problem.into())
}

/// Returns the problem of a text that must not be blank.
pub(crate) fn blank_problem(text: &str, what: &str) -> Option<String> {
    is_blank(text).then(|| format!("has an empty {what}"))
}

/// Returns the id of a server: a slug of the given id, or of its name.
pub(crate) fn id(info: &Implementation, about: Option<&RegistryData>) -> String {
    let given = about.and_then(|about| about.id.as_ref());
    let id = slug(given.unwrap_or(&info.name));
    // The slug of a name without a letter a-z or a digit is empty.
    if id.is_empty() { "server".into() } else { id }
}

/// Returns the letters a-z and digits of a text in lower case, with one `-` between its words.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        slug.push_str(if slug.is_empty() { "" } else { "-" });
        slug.push_str(word);
    }
    slug.make_ascii_lowercase();
    slug
}

/// Returns whether `name` is a registry name: `domain/name`.
///
/// Source: the MCP registry's schema of 2025-12-11, `name`. The registry also requires that both parts begin and end with a letter or
/// digit and have at least two characters.
fn is_registry_name(name: &str) -> bool {
    let is_part = |part: &str, others: &[u8]| {
        let is_end = |end: Option<u8>| end.is_some_and(|byte| byte.is_ascii_alphanumeric());
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || others.contains(&byte);
        part.len() >= 2 && is_end(part.bytes().next()) && is_end(part.bytes().last()) && part.bytes().all(is_known)
    };
    let parts = name.split_once('/');
    name.len() <= SERVER_JSON_NAME
        && parts.is_some_and(|(domain, name)| is_part(domain, b".-") && is_part(name, b"._-"))
}
