//! A gateway: many MCP servers behind one endpoint (feature `gateway`).
//!
//! A gateway mounts other servers. Its own server lists their tools, resources and prompts, with the name of the mount as a prefix, and
//! passes calls on. Authentication, scopes, rate limits, hooks, approval and deadlines of the gateway's server apply first. Each server gets
//! its own credential, and never the token of the caller.
//!
//! ```
//! use edge_mcp::client::Upstream;
//! use edge_mcp::gateway::{Gateway, Mount};
//! use edge_mcp::{Endpoint, McpServer};
//!
//! let gateway = Gateway::builder("edge", "1.0.0")
//!     .mount("weather", Mount::new(Upstream::at("https://weather.example.com/mcp")?.bearer("wx-4f1c")?))
//!     .mount("parcels", Mount::new(Upstream::at("https://parcels.example.com/mcp")?).tools(["track"]))
//!     .build()?;
//! let endpoint = Endpoint::new(move |_| McpServer::builder("edge", "1.0.0").gateway(&gateway).build());
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! Page: `docs/gateway.md`.
//!
//! A [`Mount`] has the settings of a server, and `mounted` the requests to it, which its circuit `breaker` can hold back. `names` and `uris`
//! are the names by which callers know its items: `tools`, and the other `items`. `content` changes results accordingly. `pins` hold changed
//! definitions back, `apps` are the user interfaces of tools, and the `catalogue` decides which tools are listed.

mod apps;
mod breaker;
mod catalogue;
mod content;
mod items;
mod mount;
mod mounted;
mod names;
mod pins;
mod tools;
mod uris;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{Either, LocalBoxFuture, select};

pub use self::catalogue::Catalogue;
pub use self::mount::Mount;
use self::mounted::Mounted;
use crate::call::context::Context;
use crate::client::{Listing, McpClient};
use crate::limits::{GATEWAY_LIST_SECONDS, GATEWAY_LISTS_BYTES, GATEWAY_MOUNTS, GATEWAY_NAME, UPSTREAM_PARALLEL};
use crate::parallel::parallel;
use crate::protocol::ui;
use crate::server::build_error::BuildError;
use crate::server::builder::McpServerBuilder;
use crate::server::list::ListKind;
use crate::server::prompt::Prompt;
use crate::server::resource::{Resource, ResourceTemplate};
use crate::server::source::{Found, Source};
use crate::server::tool::Tool;
use crate::text::{Text, line};

/// Other MCP servers behind one endpoint. Cloning is cheap.
///
/// A gateway holds the settings and the revisions of its servers, cached lists and the counts of failures. Create it once, in the endpoint
/// function.
#[derive(Clone)]
pub struct Gateway(Rc<Definition>);

struct Definition {
    mounts: Vec<Rc<Mounted>>,
    catalogue: Catalogue,
}

/// Builds a [`Gateway`].
#[must_use]
pub struct GatewayBuilder {
    name: Text,
    version: Text,
    mounts: Vec<(Text, Mount)>,
    catalogue: Catalogue,
    longest_name: usize,
}

impl Gateway {
    /// Creates a builder for a gateway with this name and version, which it sends to its servers.
    pub fn builder(name: impl Into<Text>, version: impl Into<Text>) -> GatewayBuilder {
        GatewayBuilder {
            name: name.into(),
            version: version.into(),
            mounts: Vec::new(),
            catalogue: Catalogue::All,
            longest_name: 48,
        }
    }

    /// Returns the digests of all tools and of the pages of their apps as they are now, as Rust code for a person to review: calls of
    /// [`Mount::pin`].
    pub async fn pins(&self, cx: &Context) -> String {
        let mut code = String::new();
        for (mount, list) in self.lists(ListKind::Tools, cx).await {
            let list = match list {
                Ok(list) => list,
                Err(problem) => {
                    code.extend(["// ", &problem, "\n"]);
                    continue;
                }
            };
            code.extend(["// ", &mount.name, "\n"]);
            let pin = |name: &str, digest: &str| format!("    .pin({name:?}, {digest:?})\n");
            let mut pages = BTreeSet::new();
            for tool in &list.items {
                code.push_str(&pin(tool.name(), &pins::of_definition(tool.raw())));
                pages.extend(tool.app_uri().filter(|uri| apps::is_shown(&mount, uri)));
            }
            for page in pages {
                match items::page_digest(&mount, page, cx).await {
                    Ok(digest) => code.push_str(&pin(page, &digest)),
                    Err(problem) => code.extend(["// ", &line(problem.message(), 200), "\n"]),
                }
            }
        }
        code
    }

    /// Returns the mount of a name, and the rest of the name.
    fn mount_of<'n>(&self, name: &'n str) -> Option<(&Rc<Mounted>, &'n str)> {
        if let [only] = &*self.0.mounts
            && !only.settings.has_prefix
        {
            return Some((only, name));
        }
        let (mount, rest) = name.split_once('_')?;
        Some((self.0.mounts.iter().find(|known| known.name == mount)?, rest))
    }

    /// Reads a list of all servers, several at the same time. After 8 s, the servers that have not answered are missing.
    async fn lists(&self, kind: ListKind, cx: &Context) -> Vec<(Rc<Mounted>, Result<Rc<Listing>, String>)> {
        let ends = cx.now_ms().saturating_add(GATEWAY_LIST_SECONDS.saturating_mul(1000));
        let has_kind = |mount: &&Rc<Mounted>| match kind {
            ListKind::Tools => true,
            ListKind::Resources | ListKind::ResourceTemplates => mount.settings.has_resources,
            ListKind::Prompts => mount.settings.has_prompts,
        };
        let bytes = Cell::new(0_usize);
        let asked = self.0.mounts.iter().filter(has_kind).map(|mount| {
            let bytes = &bytes;
            async move {
                let list = in_time(mount, kind, ends, cx).await.and_then(|list| {
                    let length = list.items.iter().fold(0, |sum: usize, item| sum.saturating_add(item.raw().len()));
                    bytes.set(bytes.get().saturating_add(length));
                    if bytes.get() <= GATEWAY_LISTS_BYTES {
                        return Ok(list);
                    }
                    Err(format!(
                        "The server `{}` is left out, because the lists of all servers are too long.",
                        mount.name
                    ))
                });
                (mount.clone(), list)
            }
            .boxed_local()
        });
        parallel(asked, UPSTREAM_PARALLEL).await
    }

    /// Returns the items of all servers for a list. `is_listed` chooses the tools.
    async fn found(&self, kind: ListKind, cx: &Context, is_listed: fn(&Catalogue, &Tool) -> bool) -> Found {
        let mut found = Found::default();
        for (mount, list) in self.lists(kind, cx).await {
            let list = match list {
                Ok(list) => list,
                Err(problem) => {
                    found = found.missing(&*mount.name, problem);
                    continue;
                }
            };
            found = found.answered();
            let catalogue = mount.settings.catalogue.as_ref().unwrap_or(&self.0.catalogue);
            match kind {
                ListKind::Tools => {
                    for (name, listed) in mount.tools(&list, cx) {
                        let tool = tools::listed_tool(&mount, name, listed, cx);
                        if is_listed(catalogue, &tool) {
                            found = found.tool(tool);
                        }
                    }
                }
                ListKind::Resources => {
                    for resource in list.items.iter().filter_map(|listed| items::listed_resource(&mount, listed)) {
                        found = found.resource(resource);
                    }
                }
                ListKind::ResourceTemplates => {
                    for template in list.items.iter().filter_map(|listed| items::listed_template(&mount, listed)) {
                        found = found.resource_template(template);
                    }
                }
                ListKind::Prompts => {
                    for (name, listed) in mount.prompts(&list) {
                        if let Some(prompt) = items::listed_prompt(&mount, name, listed) {
                            found = found.prompt(prompt);
                        }
                    }
                }
            }
        }
        found
    }

    /// Returns the server to which a URI belongs, and the URI there.
    fn server_of_uri(&self, shown: &str) -> Option<(&Rc<Mounted>, String)> {
        let mut mounts = self.0.mounts.iter().filter(|mount| mount.settings.has_resources);
        mounts.find_map(|mount| Some((mount, mount.own_uri(shown)?.into_owned())))
    }
}

/// Reads a list of a server until `ends`, in milliseconds since 1970.
async fn in_time(mount: &Mounted, kind: ListKind, ends: u64, cx: &Context) -> Result<Rc<Listing>, String> {
    let left = ends.saturating_sub(cx.now_ms());
    if left == 0 {
        return Err(format!("The server `{}` was not asked: the others took {GATEWAY_LIST_SECONDS} s.", mount.name));
    }
    match select(mount.list(kind, cx).boxed_local(), cx.host().sleep(Duration::from_millis(left))).await {
        Either::Left((list, _)) => list.map_err(|error| error.to_string()),
        Either::Right(_) => Err(format!("The server `{}` did not answer within {GATEWAY_LIST_SECONDS} s.", mount.name)),
    }
}

impl GatewayBuilder {
    /// Mounts a server. Its name is the prefix of the names of its tools and prompts, and of its URIs. It begins with a letter and has at most 24
    /// letters, digits and hyphens.
    pub fn mount(mut self, name: impl Into<Text>, mount: Mount) -> Self {
        self.mounts.push((name.into(), mount));
        self
    }

    /// Sets which tools are listed. The default is all tools.
    pub fn catalogue(mut self, catalogue: Catalogue) -> Self {
        self.catalogue = catalogue;
        self
    }

    /// Sets the longest name of a tool or a prompt, from 40 to 64 bytes. The default is 48: clients put a prefix of their own before it, and models
    /// take 64. A longer name ends with a hash.
    pub fn longest_name(mut self, bytes: usize) -> Self {
        self.longest_name = bytes;
        self
    }

    /// Builds the gateway.
    ///
    /// # Errors
    /// [`BuildError`] names the first mount with a problem: an invalid name or one that is used twice, an invalid setting, or
    /// [`Mount::as_is`] with other mounts.
    pub fn build(self) -> Result<Gateway, BuildError> {
        let Self { name, version, mounts, catalogue, longest_name } = self;
        let problem = |mount: &Text, problem: String| BuildError::new("mount of the gateway", mount.clone(), problem);
        if !(40..=64).contains(&longest_name) {
            let range = "has a longest name of less than 40 or more than 64 bytes";
            return Err(BuildError::new("gateway", name, range));
        }
        if name.is_empty() || name.len() > GATEWAY_NAME {
            return Err(BuildError::new("gateway", name, format!("must have a name of 1 to {GATEWAY_NAME} bytes")));
        }
        let is_alone = mounts.len() == 1;
        if mounts.len() > GATEWAY_MOUNTS {
            return Err(BuildError::new("gateway", name, format!("has more than {GATEWAY_MOUNTS} mounts")));
        }
        let mut client = McpClient::builder(name.clone(), version).gateway(name.clone());
        let mut settings = Vec::new();
        for (mount_name, mount) in mounts {
            let (mount, upstream) = mount.split();
            if !mount.has_prefix && !is_alone {
                return Err(problem(&mount_name, "is mounted as it is, which only a single mount can be".to_owned()));
            }
            if let Some(text) = mount.problem() {
                return Err(problem(&mount_name, text));
            }
            client = client.server(mount_name.clone(), upstream);
            settings.push((mount_name, mount));
        }
        let client = client.build()?;
        let mounted = |(nth, (mount_name, settings))| {
            Rc::new(Mounted {
                name: mount_name,
                nth,
                settings,
                client: client.clone(),
                gateway: name.clone(),
                longest_name,
                breaker: breaker::Breaker::default(),
            })
        };
        let mounts = settings.into_iter().enumerate().map(mounted).collect();
        Ok(Gateway(Rc::new(Definition { mounts, catalogue })))
    }
}

impl McpServerBuilder {
    /// Adds the tools, resources and prompts of the servers of a gateway. The items of this server take precedence.
    ///
    /// With a [`Catalogue`] by search, it also adds the tools `find-tools`, `call-tool` and `call-read-only-tool`.
    pub fn gateway(mut self, gateway: &Gateway) -> Self {
        let mounts = &gateway.0.mounts;
        if mounts.iter().any(|mount| mount.settings.shows_apps) {
            let settings = || edge_json::object(Vec::new());
            self.definitions.extensions.entry(ui::EXTENSION).or_insert_with(settings);
        }
        let prefixes = mounts.iter().filter_map(|mount| mount.prefix());
        self.definitions.reserved_authorities.extend(prefixes.map(|name| name.to_owned().into()));
        let is_search =
            |mount: &Rc<Mounted>| *mount.settings.catalogue.as_ref().unwrap_or(&gateway.0.catalogue) != Catalogue::All;
        if mounts.iter().any(is_search) {
            self = catalogue::tools(gateway).into_iter().fold(self, Self::tool);
        }
        self.source(gateway.clone())
    }
}

impl Source for Gateway {
    fn tool(&self, name: &str) -> Option<Tool> {
        self.tool_named(name).or_else(|| self.tool_for_apps(name))
    }

    fn resource(&self, uri: &str) -> Option<Resource> {
        let (mount, own) = self.server_of_uri(uri)?;
        Some(items::resource(mount, uri, own))
    }

    fn resource_template(&self, uri_template: &str) -> Option<ResourceTemplate> {
        let (mount, own) = self.server_of_uri(uri_template)?;
        Some(items::template(mount, uri_template.to_owned(), own))
    }

    fn prompt(&self, name: &str) -> Option<Prompt> {
        let (mount, rest) = self.mount_of(name).filter(|(mount, _)| mount.settings.has_prompts)?;
        items::prompt_named(mount, name, rest)
    }

    fn find(&self, list: ListKind, cx: &Context) -> LocalBoxFuture<'static, Found> {
        let (gateway, cx) = (self.clone(), cx.clone());
        async move { gateway.found(list, &cx, Catalogue::lists).await }.boxed_local()
    }
}
