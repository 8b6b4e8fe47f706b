//! `server.json`: the description of a server for the MCP registry.
//!
//! Source: <https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json>, and the registry's documentation,
//! "Package Types" and "Publishing Remote Servers".

use std::borrow::Cow;

use serde::Serialize;

use super::about::{About, id};
use super::command::{Argument, Command, Input};
use super::package::{Package, Remote, RemoteTransport, Repository};
use crate::host::{host_of, is_local, origin_of};
use crate::limits::{SERVER_JSON_DESCRIPTION, SERVER_JSON_NAME};
use crate::protocol::description::{Icon, Implementation};
use crate::text::Text;
use crate::text::has_uri_characters;

const STREAMABLE_HTTP: &str = "streamable-http";
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// The description of a server for the MCP registry. [`McpServer::server_json`](crate::McpServer::server_json) creates
/// it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerJson<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    name: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<Cow<'a, str>>,
    description: Cow<'a, str>,
    version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: Option<&'a Repository>,
    #[serde(skip_serializing_if = "Option::is_none")]
    website_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    icons: Vec<&'a Icon>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    packages: Vec<PackageEntry<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remotes: Vec<Transport<'a>>,
    /// Whether the only remote is the URL of the endpoint.
    #[serde(skip)]
    is_at_own_url: bool,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PackageEntry<'a> {
    registry_type: &'a str,
    identifier: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_sha256: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime_hint: Option<&'a str>,
    transport: Transport<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    package_arguments: Vec<InputEntry<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    environment_variables: Vec<InputEntry<'a>>,
}

#[derive(Clone, Debug, Serialize)]
struct Transport<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    headers: Vec<InputEntry<'a>>,
}

/// A `KeyValueInput`, `PositionalArgument` or `NamedArgument` of the schema. Members that a type does not have are left out.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct InputEntry<'a> {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value_hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(rename = "default", skip_serializing_if = "Option::is_none")]
    default_value: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    choices: &'a [Text],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_required: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_secret: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_repeated: bool,
}

impl<'a> ServerJson<'a> {
    /// Describes a server. Returns `None` if the server has neither a registry name, nor a URL from which a name can be
    /// derived.
    pub(crate) fn new(info: &'a Implementation, about: Option<&'a About>, own_url: Option<&str>) -> Option<Self> {
        let (packages, remotes) = about.map_or((&[][..], &[][..]), |about| (&*about.packages, &*about.remotes));
        let name = match about.and_then(|about| about.registry_name.as_deref()) {
            Some(name) => name.into(),
            None => name_at(info, about, own_url.or(remotes.first().map(|remote| &*remote.url))?)?.into(),
        };
        let title = info.title.as_deref().and_then(shortened);
        let description = info.description.as_deref().and_then(shortened);
        let description = description.or_else(|| title.clone()).or_else(|| shortened(&info.name));
        let own = own_url.filter(|_| remotes.is_empty()).map(|url| Transport {
            kind: STREAMABLE_HTTP,
            url: Some(url.to_owned().into()),
            headers: Vec::new(),
        });
        let is_at_own_url = own.is_some();
        let mut icons = Vec::new();
        for icon in info.icons.iter().filter(|icon| is_icon(icon)) {
            icons.push(icon);
        }
        let mut remotes: Vec<_> = remotes.iter().map(Transport::of).collect();
        remotes.extend(own);
        Some(Self {
            schema: SCHEMA,
            name,
            title,
            // The name of a server is not empty, so the default is never used.
            description: description.unwrap_or_default(),
            version: &info.version,
            repository: about.and_then(|about| about.repository.as_ref()),
            website_url: info.website_url.as_deref().filter(|url| is_https(url)),
            icons,
            packages: packages.iter().map(PackageEntry::of).collect(),
            is_at_own_url,
            remotes,
        })
    }
}

impl ServerJson<'_> {
    /// Adds the `Authorization` header that a server with authentication requires at its own URL. A configured
    /// [remote](crate::McpServerBuilder::remote) lists its own headers.
    #[must_use]
    pub fn guarded(mut self) -> Self {
        if let (true, [own]) = (self.is_at_own_url, &mut *self.remotes) {
            own.headers.push(InputEntry {
                name: Some("Authorization"),
                description: Some("The access token: Bearer, a space, and the token"),
                is_required: true,
                is_secret: true,
                ..InputEntry::default()
            });
        }
        self
    }
}

impl<'a> PackageEntry<'a> {
    fn of(package: &'a Package) -> Self {
        let Package { registry_name, name, version, command, environment_variables, url, sha256 } = package;
        // The identifier of an image includes its version. The identifier of a bundle is the URL of one file.
        let (registry_type, identifier, version) = match &**registry_name {
            "docker" | "oci" => ("oci", Cow::Owned(format!("{name}:{version}")), None),
            "mcpb" => ("mcpb", Cow::Borrowed(&**name), None),
            other => (other, Cow::Borrowed(&**name), Some(&**version)),
        };
        let mut package_arguments = Vec::new();
        if let Some(command) = command {
            add_arguments(command, &mut package_arguments);
        }
        Self {
            registry_type,
            identifier,
            version,
            file_sha256: sha256.as_deref(),
            runtime_hint: command.as_ref().map(|command| &*command.name),
            transport: Transport {
                kind: if url.is_some() { STREAMABLE_HTTP } else { "stdio" },
                url: url.as_deref().map(Cow::Borrowed),
                headers: Vec::new(),
            },
            package_arguments,
            environment_variables: environment_variables.iter().map(InputEntry::of).collect(),
        }
    }
}

/// Adds the arguments of a command, and of its subcommand if there is exactly one.
fn add_arguments<'a>(command: &'a Command, to: &mut Vec<InputEntry<'a>>) {
    to.extend(command.named_arguments.iter().map(InputEntry::of_argument));
    to.extend(command.positional_arguments.iter().map(InputEntry::of_argument));
    if let [only] = &*command.subcommands {
        let (value, description) = (Some(&*only.name), only.description.as_deref());
        to.push(InputEntry { kind: Some("positional"), value, description, ..InputEntry::default() });
        add_arguments(only, to);
    }
}

impl<'a> Transport<'a> {
    fn of(remote: &'a Remote) -> Self {
        let kind = match remote.transport_type {
            RemoteTransport::Streamable => STREAMABLE_HTTP,
            RemoteTransport::Sse => "sse",
        };
        let url = Some(Cow::Borrowed(&*remote.url));
        Self { kind, url, headers: remote.headers.iter().map(InputEntry::of).collect() }
    }
}

impl<'a> InputEntry<'a> {
    fn of(input: &'a Input) -> Self {
        Self {
            name: Some(&input.name),
            description: Some(&input.description),
            default_value: input.default_value.as_deref(),
            is_required: input.is_required,
            is_secret: input.is_secret,
            ..Self::default()
        }
    }

    fn of_argument(argument: &'a Argument) -> Self {
        let flag = argument.flag();
        Self {
            kind: Some(if flag.is_some() { "named" } else { "positional" }),
            name: flag.map(|flag| &**flag),
            value_hint: flag.is_none().then_some(&argument.name),
            description: Some(&argument.description),
            default_value: argument.default_value.as_deref(),
            choices: &argument.choices,
            is_required: argument.is_required,
            is_repeated: argument.is_repeatable,
            ..Self::default()
        }
    }
}

/// Shortens a text to the maximum length, at the end of a word. Returns `None` for an empty text.
fn shortened(text: &str) -> Option<Cow<'_, str>> {
    let text = text.trim();
    let Some((end, _)) = text.char_indices().nth(SERVER_JSON_DESCRIPTION) else {
        return (!text.is_empty()).then_some(Cow::Borrowed(text));
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
fn name_at(info: &Implementation, about: Option<&About>, url: &str) -> Option<String> {
    let host = host_of(origin_of(url)?)?.trim_end_matches('.');
    let is_address = host.rsplit('.').next()?.parse::<u8>().is_ok();
    let mut name = String::new();
    if is_local(host) {
        name.push_str("localhost");
    } else if is_address {
        name.push_str(host);
    } else {
        for label in host.rsplit('.') {
            name.push_str(if name.is_empty() { "" } else { "." });
            name.push_str(label);
        }
    }
    name.make_ascii_lowercase();
    let is_domain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
    name.push('/');
    name.push_str(&id(info, about));
    (is_domain && name.len() <= SERVER_JSON_NAME).then_some(name)
}
