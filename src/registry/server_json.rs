//! `server.json`: the description of a server for the MCP registry.
//!
//! Source: <https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json>, and the registry's documentation,
//! "Package Types" and "Publishing Remote Servers".

use edge_json::object;
use serde::Serialize;
use serde_json::{Map, Value};

use super::about::{RegistryData, id};
use super::package::is_one_version;
use crate::host::{host_of, is_local, origin_of};
use crate::limits::{SERVER_JSON_DESCRIPTION, SERVER_JSON_NAME};
use crate::protocol::description::{Icon, Implementation, is_blank};
use crate::text::{Text, has_uri_characters};

const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// The description of a server for the MCP registry. [`McpServer::server_json`](crate::McpServer::server_json) creates
/// it.
#[derive(Clone, Debug, Serialize)]
#[must_use]
pub struct ServerJson {
    #[serde(rename = "$schema")]
    schema: &'static str,
    /// The values that the registry accepts.
    #[serde(flatten)]
    info: Implementation,
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    packages: Vec<Map<String, Value>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remotes: Vec<Value>,
    /// Whether the only remote is the URL of the endpoint.
    #[serde(skip)]
    is_at_own_url: bool,
}

impl ServerJson {
    /// Describes a server. Returns `None` if the server has neither a registry name, nor a URL from which a name can be
    /// derived.
    pub(crate) fn new(info: &Implementation, about: Option<&RegistryData>, own_url: Option<&str>) -> Option<Self> {
        let (mut packages, mut remotes) = (Vec::new(), Vec::new());
        if let Some(about) = about {
            packages.extend(about.packages.iter().map(|package| package.0.current.clone()));
            remotes.extend(about.remotes.iter().map(|remote| Value::Object(remote.0.current.clone())));
        }
        let name = match about.and_then(|about| about.registry_name.clone()) {
            Some(name) => name,
            None => name_at(info, about, own_url.or_else(|| remotes.first()?.get("url")?.as_str())?)?.into(),
        };
        let own = own_url.filter(|_| remotes.is_empty());
        remotes.extend(own.map(|url| object(vec![("type", "streamable-http".into()), ("url", url.into())])));
        let mut accepted = Implementation { name, ..info.clone() };
        accepted.title = info.title.as_deref().and_then(shortened);
        let description = info.description.as_deref().and_then(shortened);
        accepted.description = description.or_else(|| accepted.title.clone()).or_else(|| shortened(&info.name));
        accepted.icons.retain(is_icon);
        accepted.website_url = accepted.website_url.filter(|url| is_https(url));
        let repository = about.and_then(|about| Some(about.repository.as_ref()?.0.current.clone()));
        Some(Self { schema: SCHEMA, info: accepted, repository, packages, remotes, is_at_own_url: own.is_some() })
    }

    /// Adds the `Authorization` header that a server with authentication requires at its own URL. A configured
    /// [remote](crate::McpServerBuilder::remote) lists its own headers.
    pub fn guarded(mut self) -> Self {
        if let (true, [Value::Object(own)]) = (self.is_at_own_url, &mut *self.remotes) {
            let header = object(vec![
                ("name", "Authorization".into()),
                ("description", "The access token: Bearer, a space, and the token".into()),
                ("isRequired", true.into()),
                ("isSecret", true.into()),
            ]);
            own.insert("headers".into(), vec![header].into());
        }
        self
    }
}

/// Returns the values of a server that [`ServerJson`] changes or leaves out, each as the predicate of a sentence.
pub(crate) fn adapted(info: &Implementation) -> Vec<String> {
    let mut problems = Vec::new();
    if info.description.as_deref().is_none_or(is_blank) {
        problems.push("has no description: call `McpServerBuilder::description`".to_owned());
    }
    for (what, text) in [("description", &info.description), ("title", &info.title)] {
        let length = text.as_deref().unwrap_or_default().trim().chars().count();
        if length > SERVER_JSON_DESCRIPTION {
            problems.push(format!(
                "has a {what} of {length} characters, which `/server.json` cuts: shorten it to {SERVER_JSON_DESCRIPTION}"
            ));
        }
    }
    if !is_one_version(&info.version) {
        problems.push(format!("has the version `{}`, which is not one version: use one such as `1.0.2`", info.version));
    }
    if let Some(icon) = info.icons.iter().find(|icon| !is_icon(icon)) {
        problems.push(format!(
            "has the icon `{}`, which `/server.json` leaves out: use a PNG, JPEG, SVG or WebP at an `https:` URL of at most 255 bytes",
            shortened(&icon.src).unwrap_or_default()
        ));
    }
    if let Some(url) = info.website_url.as_deref().filter(|url| !is_https(url)) {
        problems.push(format!("has the website `{url}`, which `/server.json` leaves out: use an `https:` URL"));
    }
    problems
}

/// Shortens a text to the maximum length, at the end of a word. Returns `None` for an empty text.
fn shortened(text: &str) -> Option<Text> {
    let text = text.trim();
    let Some((end, _)) = text.char_indices().nth(SERVER_JSON_DESCRIPTION) else {
        return (!text.is_empty()).then(|| text.to_owned().into());
    };
    let beginning = text.get(..end)?;
    // Dropping the last character makes room for the ellipsis.
    let (all_but_one, _) = beginning.split_at_checked(beginning.char_indices().next_back()?.0)?;
    let words = beginning.rsplit_once(char::is_whitespace).map_or(all_but_one, |(words, _)| words);
    Some(format!("{}…", words.trim_end()).into())
}

/// Returns whether the registry accepts `url` for a website or an icon.
fn is_https(url: &str) -> bool {
    url.strip_prefix("https://")
        .is_some_and(|rest| rest.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric()))
        && has_uri_characters(url)
}

fn is_icon(icon: &Icon) -> bool {
    const TYPES: [&str; 5] = ["image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp"];
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_size = |size: &str| {
        size == "any" || size.split_once('x').is_some_and(|(width, height)| is_number(width) && is_number(height))
    };
    is_https(&icon.src)
        && icon.src.len() <= 255
        && icon.mime_type.as_deref().is_none_or(|kind| TYPES.contains(&kind))
        && icon.sizes.iter().all(|size| is_size(size))
}

/// Returns a registry name for a server without one: the reversed host of a URL, and the server's id.
fn name_at(info: &Implementation, about: Option<&RegistryData>, url: &str) -> Option<String> {
    let host = host_of(origin_of(url)?)?.trim_end_matches('.');
    let is_address = host.rsplit('.').next()?.parse::<u8>().is_ok();
    let mut domain = if is_local(host) {
        "localhost".to_owned()
    } else if is_address {
        host.to_owned()
    } else {
        host.rsplit('.').collect::<Vec<_>>().join(".")
    };
    domain.make_ascii_lowercase();
    let is_domain = domain.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
    let name = format!("{domain}/{}", id(info, about));
    (is_domain && name.len() <= SERVER_JSON_NAME).then_some(name)
}
