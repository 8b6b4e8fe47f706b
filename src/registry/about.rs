//! The data about a server that is not part of the protocol: id, release date, repository, packages and remotes.

use serde_json::Value;

use super::package::{Package, Remote, Repository, first_problem, is_one_version};
use crate::limits::SERVER_JSON_NAME;
use crate::protocol::description::{Implementation, is_blank};
use crate::text::Text;

/// The data about a server that is not part of the protocol.
///
/// Only builder methods create this value, so the wasm module of a server that does not call them does not contain the functions that it
/// points to.
#[derive(Clone)]
pub(crate) struct About {
    pub id: Option<Text>,
    pub registry_name: Option<Text>,
    pub repository: Option<Repository>,
    pub release_date: Option<Text>,
    pub is_outdated: bool,
    pub canonical_package: Option<Text>,
    pub packages: Vec<Package>,
    pub remotes: Vec<Remote>,
    /// Returns the first problem for which a registry would reject the server.
    pub problem: fn(&Self, &Implementation) -> Option<String>,
    /// Returns the entries of `server.json`.
    pub(super) entries: fn(&Self) -> Entries,
}

/// The members of `server.json` that are made of other objects.
#[derive(Default)]
pub(super) struct Entries {
    pub repository: Option<Value>,
    pub packages: Vec<Value>,
    pub remotes: Vec<Value>,
}

impl Default for About {
    fn default() -> Self {
        let (id, registry_name, repository, release_date, canonical_package, packages, remotes) = Default::default();
        Self {
            id,
            registry_name,
            repository,
            release_date,
            is_outdated: false,
            canonical_package,
            packages,
            remotes,
            problem: Self::problem,
            entries: Self::entries,
        }
    }
}

impl About {
    fn problem(&self, info: &Implementation) -> Option<String> {
        let is_named = self.registry_name.is_some();
        let problem = first_problem([
            (self.id.as_ref().is_none_or(|id| !slug(id).is_empty()), "has an id without a letter a-z or a digit"),
            (
                self.registry_name.as_ref().is_none_or(|name| is_registry_name(name)),
                "has a registry name that does not have the form `io.github.ada/weather`",
            ),
            (
                !is_named || is_one_version(&info.version),
                "has a registry name, so its version must be one version such as `1.0.2`, not a range",
            ),
            (!self.release_date.as_deref().is_some_and(is_blank), "has an empty release date"),
            (!self.canonical_package.as_deref().is_some_and(is_blank), "has an empty canonical package"),
        ]);
        problem
            .or_else(|| self.repository.iter().find_map(Repository::problem))
            .or_else(|| self.packages.iter().find_map(Package::problem))
            .or_else(|| self.remotes.iter().find_map(Remote::problem))
    }

    fn entries(&self) -> Entries {
        Entries {
            repository: self.repository.as_ref().map(|repository| repository.0.current.clone().into()),
            packages: self.packages.iter().map(Package::current).collect(),
            remotes: self.remotes.iter().map(|remote| remote.0.current.clone().into()).collect(),
        }
    }
}

/// Returns the id of a server: a slug of the given id, or of its name.
pub(crate) fn id(info: &Implementation, about: Option<&About>) -> String {
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
