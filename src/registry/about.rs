//! The data about a server that is not part of the protocol: id, release date, repository, packages and remotes.
//!
//! The serialized members have the names of the first drafts of the MCP registry. [`server_json`](super::server_json) writes the same
//! data with the current names.

use serde::Serialize;

use super::package::{Package, Remote, Repository, is_one_version};
use crate::limits::SERVER_JSON_NAME;
use crate::protocol::description::{Implementation, is_blank};
use crate::text::Text;

/// The data about a server that is not part of the protocol.
#[derive(Clone, Default)]
pub(crate) struct About {
    pub id: Option<Text>,
    pub registry_name: Option<Text>,
    pub repository: Option<Repository>,
    pub release_date: Option<Text>,
    pub is_outdated: bool,
    pub canonical_package: Option<Text>,
    pub packages: Vec<Package>,
    pub remotes: Vec<Remote>,
}

impl About {
    /// Returns the first problem for which a registry would reject the server.
    #[inline(never)]
    pub(crate) fn problem(&self, info: &Implementation) -> Option<String> {
        if self.id.as_ref().is_some_and(|id| slug(id).is_empty()) {
            return Some("has an id without a letter a-z or a digit".into());
        }
        if self.registry_name.as_ref().is_some_and(|name| !is_registry_name(name)) {
            return Some("has a registry name that does not have the form `io.github.ada/weather`".into());
        }
        if self.registry_name.is_some() && !is_one_version(&info.version) {
            return Some("has a registry name, so its version must be one version such as `1.0.2`, not a range".into());
        }
        if self.release_date.as_deref().is_some_and(is_blank) {
            return Some("has an empty release date".into());
        }
        if self.canonical_package.as_deref().is_some_and(is_blank) {
            return Some("has an empty canonical package".into());
        }
        (self.repository.iter().find_map(Repository::problem))
            .or_else(|| self.packages.iter().find_map(Package::problem))
            .or_else(|| self.remotes.iter().find_map(Remote::problem))
    }
}

/// Returns the id of a server: a slug of the given id, or of its name.
pub(crate) fn id(info: &Implementation, about: Option<&About>) -> String {
    let given = about.and_then(|about| about.id.as_ref());
    let id = slug(given.unwrap_or(&info.name));
    // The slug of a name without a letter a-z or a digit is empty.
    if id.is_empty() { "server".into() } else { id }
}

/// The identity of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ServerInfo {
    /// A slug that identifies the server.
    pub id: String,
    /// The name.
    pub name: Text,
    /// The description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
    /// The source repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository: Option<Repository>,
    /// The version.
    pub version_detail: VersionDetail,
}

/// The version of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct VersionDetail {
    /// The version, in any scheme.
    pub version: Text,
    /// The release date, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_date: Option<Text>,
    /// Whether this is the latest version.
    pub is_latest: bool,
}

/// The identity of a server, its packages and its remotes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ServerDetail {
    /// The identity.
    #[serde(flatten)]
    pub info: ServerInfo,
    /// The registry of the recommended package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package_canonical: Option<Text>,
    /// Packages that run the server elsewhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<Package>,
    /// The URLs at which the server runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<Remote>,
}

impl ServerInfo {
    pub(crate) fn new(info: &Implementation, about: Option<&About>) -> Self {
        Self {
            id: id(info, about),
            name: info.name.clone(),
            description: info.description.clone(),
            repository: about.and_then(|about| about.repository.clone()),
            version_detail: VersionDetail {
                version: info.version.clone(),
                release_date: about.and_then(|about| about.release_date.clone()),
                is_latest: about.is_none_or(|about| !about.is_outdated),
            },
        }
    }
}

impl ServerDetail {
    pub(crate) fn new(info: &Implementation, about: Option<&About>) -> Self {
        Self {
            info: ServerInfo::new(info, about),
            package_canonical: about.and_then(|about| about.canonical_package.clone()),
            packages: about.map_or_else(Vec::new, |about| about.packages.clone()),
            remotes: about.map_or_else(Vec::new, |about| about.remotes.clone()),
        }
    }
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
