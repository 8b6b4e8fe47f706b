//! A server that a gateway mounts: the server, and what the gateway shows of it.

use std::rc::Rc;
use std::time::Duration;

use edge_json::object;

use super::catalogue::Catalogue;
use super::pins::{self, Pins};
use crate::auth::scopes;
use crate::client::Upstream;
use crate::limits::GATEWAY_PINNED_SECONDS;
use crate::protocol::log_level::LogLevel;
use crate::protocol::ui;
use crate::server::app::origin::{List, origin_problem};
use crate::server::check::name_problem;
use crate::server::tool::Tool;
use crate::text::Text;

type EachTool = Rc<dyn Fn(Tool) -> Tool>;

/// Another MCP server, for [`GatewayBuilder::mount`](super::GatewayBuilder::mount).
///
/// ```
/// use edge_mcp::client::Upstream;
/// use edge_mcp::gateway::Mount;
///
/// let github = Mount::new(Upstream::at("https://mcp.github.example/mcp")?.bearer("gh-4f1c")?)
///     .scopes(["github:use"])
///     .without(["delete_repository"])
///     .each_tool(|tool| if tool.name() == "github_merge" { tool.scopes(["github:merge"]) } else { tool });
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
#[must_use]
pub struct Mount {
    upstream: Upstream,
    settings: MountSettings,
}

/// What a gateway shows of a server.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct MountSettings {
    /// Whether the program trusts the server.
    pub(super) is_trusted: bool,
    /// Whether a user of the program chose the server.
    pub(super) is_untrusted: bool,
    pub(super) has_prefix: bool,
    /// The tools that exist. `None` means all.
    tools: Option<Vec<Text>>,
    without: Vec<Text>,
    /// Names of tools at the server, with their names here.
    renames: Vec<(Text, Text)>,
    pub(super) scopes: Vec<Text>,
    pub(super) each_tool: Option<EachTool>,
    pub(super) pins: Pins,
    pub(super) has_resources: bool,
    pub(super) has_prompts: bool,
    /// The lowest level of the log messages that are passed on.
    pub(super) logs: Option<LogLevel>,
    pub(super) catalogue: Option<Catalogue>,
    pub(super) shows_apps: bool,
    pub(super) shows_skills: bool,
    pub(super) app_domain: Option<Text>,
    /// The origins that the pages of apps may use. `None` means all that they declare.
    pub(super) app_origins: Option<Vec<Text>>,
}

impl Mount {
    /// Mounts a server with all its tools, resources and prompts.
    ///
    /// A list of the server takes at most 5 s, also if [`Upstream::list_timeout`] is longer: a slow server must not delay the lists of the others.
    pub fn new(upstream: Upstream) -> Self {
        let settings = MountSettings { has_prefix: true, has_resources: true, has_prompts: true, ..Default::default() };
        Self { upstream, settings }
    }

    /// Shows the names and URIs of the server as they are, without a prefix. Only the one mount of a gateway can do so. Its apps are shown.
    pub fn as_is(mut self) -> Self {
        (self.settings.has_prefix, self.settings.shows_apps) = (false, true);
        self
    }

    /// Shows only these tools, by their names at the server. The others do not exist: they are not listed and cannot be called.
    pub fn tools(mut self, names: impl IntoIterator<Item = impl Into<Text>>) -> Self {
        self.settings.tools.get_or_insert_default().extend(names.into_iter().map(Into::into));
        self
    }

    /// Hides these tools, by their names at the server. A name that differs from one of them only in case or punctuation must be in the list of
    /// the server.
    pub fn without(mut self, names: impl IntoIterator<Item = impl Into<Text>>) -> Self {
        self.settings.without.extend(names.into_iter().map(Into::into));
        self
    }

    /// Hides the resources and resource templates of the server.
    pub fn without_resources(mut self) -> Self {
        self.settings.has_resources = false;
        self
    }

    /// Hides the prompts of the server.
    pub fn without_prompts(mut self) -> Self {
        self.settings.has_prompts = false;
        self
    }

    /// Shows the tool `name` of the server by a shorter name, after the prefix of the mount.
    pub fn rename(mut self, name: impl Into<Text>, shown: impl Into<Text>) -> Self {
        self.settings.renames.push((name.into(), shown.into()));
        self
    }

    /// Requires that the caller has all of these scopes, for each tool, resource and prompt of the server. They are scopes of the gateway, as for
    /// [`Tool::scopes`].
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<Text>>) -> Self {
        self.settings.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Changes each tool, for example with scopes, a hook, a deadline or an approval. The function also runs for each call, before the
    /// definition of the tool is known, so rely only on the [name](Tool::name), which has the prefix of the mount. It is the name that the caller
    /// wrote. A server may read another spelling as the same tool, so protect a tool by its name only together with [`tools`](Self::tools) or
    /// [`pins_only`](Self::pins_only).
    pub fn each_tool(mut self, change: impl Fn(Tool) -> Tool + 'static) -> Self {
        self.settings.each_tool = Some(Rc::new(change));
        self
    }

    /// Holds a tool or an app back if its definition has changed. `name` is the name of the tool at the server, or the URI of the app there.
    /// [`Gateway::pins`](super::Gateway::pins) writes the digests.
    ///
    /// The digest of a tool covers its name, title, description, schemas, annotations and user interface. The digest of an app covers its page
    /// and the settings of the page. A call of a pinned tool needs the list of tools, which is one more request if the server does not let the
    /// client cache it. The client caches the list for at most 5 min.
    ///
    /// A pinned tool owns the name by which callers know it: no other tool of the server gets this name.
    pub fn pin(mut self, name: impl Into<Text>, digest: impl Into<Text>) -> Self {
        self.settings.pins.pinned.push((name.into(), digest.into()));
        self
    }

    /// Hides everything that is not [pinned](Self::pin): tools, apps and resources, and all prompts and resource templates, because their texts
    /// can change too. To hide only tools, choose them with [`tools`](Self::tools), and pin each one. [Skills](Self::skills) are not affected.
    pub fn pins_only(mut self) -> Self {
        self.settings.pins.excludes_others = true;
        self
    }

    /// Passes the log messages of the server on, if they have at least the level `lowest` and the caller asked for them. The server of the
    /// gateway must [declare](crate::McpServerBuilder::logging) log messages. Their logger begins with the name of the mount.
    ///
    /// Revision 2026-07-28 of the protocol deprecates log messages to the client. A revision from 2027-07-28 on can remove them.
    pub fn relay_logs(mut self, lowest: LogLevel) -> Self {
        self.settings.logs = Some(lowest);
        self
    }

    /// Sets how the tools of this server are listed, instead of the setting of the gateway.
    pub fn catalogue(mut self, catalogue: Catalogue) -> Self {
        self.settings.catalogue = Some(catalogue);
        self
    }

    /// Shows the user interfaces of the tools ([MCP Apps](https://modelcontextprotocol.io/extensions/apps)). Their pages call tools by the names
    /// at the server, so the gateway also accepts these names, if only one server has such a tool.
    ///
    /// The tools of mounts without apps, and the tools of the gateway's own server that do not state their visibility, are then for models only. The
    /// pages of two mounts with apps can still call tools of each other: see the page about gateways.
    ///
    /// The pages may use the origins that they declare, so a result can leave through these origins. Only a [trusted](Upstream::trusted)
    /// server may ask for the camera and other permissions of the browser.
    pub fn apps(mut self) -> Self {
        self.settings.shows_apps = true;
        self
    }

    /// Shows the [skills](https://github.com/modelcontextprotocol/ext-skills) of the server, if the program adds
    /// [`Gateway::skills`](super::Gateway::skills). A skill is text that a model follows, so show only those of servers that you trust. Absolute
    /// links between files of a skill do not work: they have the URIs of the server.
    pub fn skills(mut self) -> Self {
        self.settings.shows_skills = true;
        self
    }

    /// Sets the origin of the pages of apps in one client. The one that the server sets is for its own URL.
    pub fn app_domain(mut self, domain: impl Into<Text>) -> Self {
        self.settings.app_domain = Some(domain.into());
        self
    }

    /// Lets the pages of apps use only these origins, such as `https://cdn.example.com`.
    pub fn app_origins(mut self, origins: impl IntoIterator<Item = impl Into<Text>>) -> Self {
        self.settings.app_origins.get_or_insert_default().extend(origins.into_iter().map(Into::into));
        self
    }
}

impl Mount {
    /// Returns the settings and the server.
    pub(super) fn split(self) -> (MountSettings, Upstream) {
        let Self { mut upstream, settings } = self;
        if !settings.pins.is_empty() {
            upstream.longest_ttl = Duration::from_secs(GATEWAY_PINNED_SECONDS);
        }
        if settings.shows_apps {
            // A server lists its tools for apps only to a client that declares support for apps.
            let support = object(vec![("mimeTypes", vec![ui::MIME_TYPE].into())]);
            upstream.extensions.entry(ui::EXTENSION).or_insert(support);
        }
        let Upstream { is_trusted, is_untrusted, .. } = upstream;
        (MountSettings { is_trusted, is_untrusted, ..settings }, upstream)
    }
}

impl MountSettings {
    /// Returns whether the tool with this name at the server exists here.
    pub(super) fn has_tool(&self, name: &str) -> bool {
        let is_named = |names: &[Text]| names.iter().any(|known| known == name);
        self.tools.as_deref().is_none_or(is_named) && !is_named(&self.without)
    }

    /// Returns names at the server of tools that exist here: those that the program names, and an invented one that stands for the others.
    pub(super) fn some_tools(&self) -> Vec<&str> {
        let mut names: Vec<&str> = match &self.tools {
            Some(names) => names.iter().map(|name| &**name).collect(),
            None => self.renamed_tools().chain(self.pins.names()).collect(),
        };
        names.retain(|name| self.has_tool(name));
        names.extend((self.tools.is_none() && !self.pins.excludes_others).then_some("tool"));
        names
    }

    /// Returns the name that the program gives the tool, or its name at the server.
    pub(super) fn shown_name<'n>(&'n self, name: &'n str) -> &'n str {
        self.renames.iter().find(|(known, _)| known == name).map_or(name, |(_, shown)| shown)
    }

    /// Returns the names at the server of the tools that the program renames.
    pub(super) fn renamed_tools(&self) -> impl Iterator<Item = &str> {
        self.renames.iter().map(|(name, _)| &**name)
    }

    /// Returns whether a name differs only in case or punctuation from one that the program hides, renames or pins. A server may take both for
    /// one tool.
    pub(super) fn resembles_another(&self, name: &str) -> bool {
        fn letters(name: &str) -> impl Iterator<Item = u8> {
            name.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_lowercase())
        }
        let hidden = self.without.iter().map(|name| &**name);
        let mut named = hidden.chain(self.renamed_tools()).chain(self.pins.names());
        named.any(|known| known != name && letters(known).eq(letters(name)))
    }

    /// Returns the name at the server of the tool that the program calls `shown`.
    pub(super) fn renamed(&self, shown: &str) -> Option<&str> {
        self.renames.iter().find(|(_, name)| name == shown).map(|(name, _)| &**name)
    }

    /// Returns the problem with the settings, as the predicate of a sentence whose subject is the mount.
    pub(super) fn problem(&self) -> Option<String> {
        for (nth, (name, shown)) in self.renames.iter().enumerate() {
            if let Some(problem) = name_problem(shown) {
                return Some(format!("renames `{name}` to `{shown}`, which {problem}"));
            }
            if self.renames.iter().take(nth).any(|(other, known)| other == name || known == shown) {
                return Some(format!("renames `{name}`, or another tool to `{shown}`, twice"));
            }
        }
        if let Some(problem) = self.scopes.iter().find_map(|scope| scopes::problem(scope)) {
            return Some(problem.to_owned());
        }
        let invalid = self.pins.pinned.iter().find(|(_, digest)| !pins::is_digest(digest));
        if let Some((name, _)) = invalid {
            return Some(format!(
                "pins `{name}` to a text that is not a digest: it must be `sha256-` and 44 characters of base64"
            ));
        }
        let mut origins = self.app_origins.iter().flatten();
        let problem = origins.find_map(|origin| origin_problem(List::Connect, origin, false));
        problem.map(|problem| format!("allows an origin that is not valid: it {problem}"))
    }
}
