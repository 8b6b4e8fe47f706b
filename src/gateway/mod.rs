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
//! A [`Mount`] has the settings of a server, and `mounted` the requests to it, which its circuit `breaker` can hold back. `servers` are all
//! servers of a gateway, which its `builder` builds. `names` and `uris` are the names by which callers know the items of a server: `tools`,
//! and the other `items`. `found` are the items of all servers, and `content` changes results accordingly. `pins` hold changed definitions
//! back. `apps` are the user interfaces of tools, `app_calls` the calls of their pages, and `skills` the skills. `passed_tasks` are
//! those that callers follow. The `catalogue` decides which
//! tools are listed, and `search` finds and calls the others.

mod app_calls;
mod apps;
mod breaker;
mod builder;
mod catalogue;
mod content;
mod found;
mod items;
mod mount;
mod mounted;
mod names;
pub(crate) mod passed_tasks;
mod pins;
mod search;
mod servers;
mod skills;
mod tools;
mod uris;

use std::collections::BTreeSet;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

pub use self::builder::GatewayBuilder;
pub use self::catalogue::Catalogue;
pub use self::mount::Mount;
use self::mounted::Mounted;
pub use self::servers::Gateway;
use crate::call::context::Context;
use crate::protocol::ui;
use crate::server::builder::McpServerBuilder;
use crate::server::list::ListKind;
use crate::server::prompt::Prompt;
use crate::server::resource::{Resource, ResourceTemplate};
use crate::server::source::{Source, SourceItems};
use crate::server::tool::Tool;
use crate::text::line;

impl Gateway {
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
}

impl McpServerBuilder {
    /// Adds the tools, resources and prompts of the servers of a gateway. The items of this server take precedence.
    ///
    /// With a [`Catalogue`] by search, it also adds the tools `find-tools`, `call-tool` and `call-read-only-tool`.
    ///
    /// If a mount shows [apps](Mount::apps), the other tools of this server are for models only. A client would otherwise let the pages of
    /// mounted servers call them. A tool with a user interface of this server, or with a member `ui` in its [`_meta`](crate::Tool::meta), keeps
    /// its own visibility.
    pub fn gateway(mut self, gateway: &Gateway) -> Self {
        let mounts = &gateway.0.mounts;
        if mounts.iter().any(|mount| mount.settings.shows_apps) {
            let settings = || edge_json::object(Vec::new());
            self.definitions.extensions.entry(ui::EXTENSION).or_insert_with(settings);
            self.definitions.close_to_pages = Some(apps::close_to_pages);
        }
        let prefixes = mounts.iter().filter_map(|mount| mount.prefix());
        self.definitions.reserved_authorities.extend(prefixes.map(|name| name.to_owned().into()));
        let is_search =
            |mount: &Rc<Mounted>| *mount.settings.catalogue.as_ref().unwrap_or(&gateway.0.catalogue) != Catalogue::All;
        if mounts.iter().any(is_search) {
            self = search::tools(gateway).into_iter().fold(self, Self::tool);
        }
        self.source(gateway.clone())
    }
}

impl Source for Gateway {
    fn tool(&self, name: &str) -> Option<Tool> {
        tools::tool_named(self, name).or_else(|| app_calls::tool(self, name))
    }

    fn resource(&self, uri: &str) -> Option<Resource> {
        let (mount, own) = self.server_of_uri(uri).filter(|(mount, own)| mount.shows_resource(own))?;
        Some(items::resource(mount, uri, own))
    }

    fn resource_template(&self, uri_template: &str) -> Option<ResourceTemplate> {
        let (mount, own) = self.server_of_uri(uri_template).filter(|(mount, own)| mount.shows_template(own))?;
        Some(items::template(mount, uri_template.to_owned(), own))
    }

    fn prompt(&self, name: &str) -> Option<Prompt> {
        let (mount, rest) = self.mount_of(name).filter(|(mount, _)| mount.shows_prompts())?;
        items::prompt_named(mount, name, rest)
    }

    fn find(&self, list: ListKind, cx: &Context) -> LocalBoxFuture<'static, SourceItems> {
        let (gateway, cx) = (self.clone(), cx.clone());
        async move { found::found(&gateway, list, &cx, Catalogue::lists).await }.boxed_local()
    }
}
