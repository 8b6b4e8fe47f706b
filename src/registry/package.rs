//! The repository, packages and remotes of a server.
//!
//! In [`server_detail`](crate::McpServer::server_detail), the serialized members have the names of the registry's first
//! drafts. In `server.json` they have the names of its schema.

use serde::Serialize;

use super::command::{Command, Input, is_word};
use crate::config::SecureUrl;
use crate::protocol::description::is_blank;
use crate::schema::is_header_name;
use crate::text::Text;

/// The repository with the source code of a server.
///
/// ```
/// use edge_mcp::registry::Repository;
///
/// let repository = Repository::new("https://github.com/ada/servers", "github").subfolder("weather");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repository {
    url: Text,
    source: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subfolder: Option<Text>,
}

impl Repository {
    /// Creates the repository at `url`, which works in a browser and for `git clone`. `source` is the hosting service:
    /// `github`, `gitlab` or another.
    pub fn new(url: impl Into<Text>, source: impl Into<Text>) -> Self {
        Self { url: url.into(), source: source.into(), id: None, subfolder: None }
    }

    /// Sets the id of the repository at the hosting service, which does not change when the repository is renamed.
    #[must_use]
    pub fn id(mut self, id: impl Into<Text>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets the path of the server in the repository, such as `servers/weather`.
    #[must_use]
    pub fn subfolder(mut self, path: impl Into<Text>) -> Self {
        self.subfolder = Some(path.into());
        self
    }

    pub(super) fn problem(&self) -> Option<String> {
        if let Err(problem) = SecureUrl::parse(&self.url) {
            return Some(format!("has a repository whose URL {problem}"));
        }
        if is_blank(&self.source) {
            return Some("has a repository without a source, such as `github`".into());
        }
        let is_segment = |segment: &str| !matches!(segment, "" | "." | "..") && !segment.contains(['\\', ' ']);
        let is_path = self.subfolder.as_deref().is_none_or(|path| path.split('/').all(is_segment));
        (!is_path).then(|| "has a repository whose subfolder is not a relative path such as `servers/weather`".into())
    }
}

/// A package that runs the server elsewhere.
///
/// ```
/// use edge_mcp::registry::{Command, Input, Package};
///
/// let package = Package::new("npm", "@ada/weather", "1.0.2")
///     .command(Command::new("npx"))
///     .environment_variable(Input::new("WEATHER_KEY", "The key of the weather service").required().secret());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Package {
    pub(super) registry_name: Text,
    pub(super) name: Text,
    pub(super) version: Text,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<Command>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) environment_variables: Vec<Input>,
    /// The URL at which the package listens, or `None` if its transport is stdio.
    #[serde(skip)]
    pub(super) url: Option<Text>,
    #[serde(skip)]
    pub(super) sha256: Option<Text>,
}

impl Package {
    /// Creates a package with one version. `registry` is `npm`, `pypi`, `docker`, `cargo`, `nuget`, `mcpb` or another.
    /// The transport is stdio, unless another one is set.
    pub fn new(registry: impl Into<Text>, name: impl Into<Text>, version: impl Into<Text>) -> Self {
        Self {
            registry_name: registry.into(),
            name: name.into(),
            version: version.into(),
            command: None,
            environment_variables: Vec::new(),
            url: None,
            sha256: None,
        }
    }

    /// Sets the command that runs the package.
    #[must_use]
    pub fn command(mut self, command: Command) -> Self {
        self.command = Some(command);
        self
    }

    /// Adds an environment variable that the package reads.
    #[must_use]
    pub fn environment_variable(mut self, variable: Input) -> Self {
        self.environment_variables.push(variable);
        self
    }

    /// Sets the transport to streamable HTTP at `url`, which must be an `https:` or localhost URL.
    #[must_use]
    pub fn streamable_http(mut self, url: impl Into<Text>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// Sets the SHA-256 of the package file in 64 hexadecimal digits. Clients verify it. It is required for `mcpb`.
    #[must_use]
    pub fn sha256(mut self, digest: impl Into<Text>) -> Self {
        self.sha256 = Some(digest.into());
        self
    }

    pub(super) fn problem(&self) -> Option<String> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let is_digest = |digest: &Text| digest.len() == 64 && digest.bytes().all(is_hex);
        let what = if !is_word(&self.registry_name) || !is_word(&self.name) {
            "has a registry or name that is empty, or has a space, `<`, `>` or `$` in it".into()
        } else if !is_one_version(&self.version) {
            "must have one version, such as `1.0.2`, not a range".into()
        } else if self.sha256.as_ref().map_or(self.registry_name == "mcpb", |digest| !is_digest(digest)) {
            "must have a SHA-256 of 64 hexadecimal digits in lower case".into()
        } else if self.command.as_ref().is_some_and(Command::has_invalid_name) {
            "has an argument or command whose name is empty, or has a space, `<`, `>` or `$` in it".into()
        } else if !self.environment_variables.iter().all(|variable| is_word(&variable.name)) {
            "has an environment variable whose name is empty, or has a space, `<`, `>` or `$` in it".into()
        } else {
            format!("listens at a URL that {}", SecureUrl::parse(self.url.as_ref()?).err()?)
        };
        Some(format!("has the package {:?}, which {what}", self.name))
    }
}

/// A URL at which the server runs.
///
/// ```
/// use edge_mcp::registry::Remote;
///
/// let remote = Remote::streamable("https://weather.example.com/mcp");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remote {
    pub(super) transport_type: RemoteTransport,
    pub(super) url: Text,
    #[serde(skip)]
    pub(super) headers: Vec<Input>,
}

/// The transport of a remote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RemoteTransport {
    Streamable,
    Sse,
}

impl Remote {
    /// Creates a remote with streamable HTTP at `url`, which must be an `https:` or localhost URL.
    pub fn streamable(url: impl Into<Text>) -> Self {
        Self { transport_type: RemoteTransport::Streamable, url: url.into(), headers: Vec::new() }
    }

    /// Creates a remote with the transport of 2024-11-05, HTTP with server-sent events, at `url`. This library does not
    /// serve that transport, but another server may.
    pub fn sse(url: impl Into<Text>) -> Self {
        Self { transport_type: RemoteTransport::Sse, ..Self::streamable(url) }
    }

    /// Adds a header that clients must send.
    #[must_use]
    pub fn header(mut self, header: Input) -> Self {
        self.headers.push(header);
        self
    }

    pub(super) fn problem(&self) -> Option<String> {
        if let Err(problem) = SecureUrl::parse(&self.url) {
            return Some(format!("has a remote whose URL {problem}"));
        }
        let invalid = self.headers.iter().find(|header| !is_header_name(&header.name))?;
        Some(format!("has a remote with the header {:?}, which is not a valid header name", invalid.name))
    }
}

/// Returns whether `version` is a single version, and not a range or a moving tag.
///
/// Source: the MCP registry, "Versioning Published MCP Servers", "Version Format".
pub(super) fn is_one_version(version: &str) -> bool {
    let is_range = version.starts_with(['^', '~', '<', '>', '=']) || version.contains("||") || version.contains(" - ");
    let is_wildcard = |part: &str| matches!(part, "x" | "X" | "*");
    !is_blank(version)
        && version.len() <= 255
        && version != "latest"
        && !is_range
        && !version.split('.').any(is_wildcard)
}
