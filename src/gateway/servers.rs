//! The servers of a gateway, their lists, and the builder.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{Either, select};

use super::breaker::Breakers;
use super::catalogue::Catalogue;
use super::mount::Mount;
use super::mounted::Mounted;
use crate::call::context::Context;
use crate::client::{ClientError, Listing, McpClient};
use crate::limits::{
    GATEWAY_LIST_BYTES, GATEWAY_LIST_SECONDS, GATEWAY_LISTS_BYTES, GATEWAY_MOUNTS, GATEWAY_NAME, UPSTREAM_PARALLEL,
};
use crate::parallel::parallel;
use crate::server::build_error::BuildError;
use crate::server::list::ListKind;
use crate::text::Text;

/// Other MCP servers behind one endpoint. Cloning is cheap.
///
/// A gateway holds the settings and the revisions of its servers, cached lists and the counts of failures. Create it once, in the endpoint
/// function.
#[derive(Clone)]
pub struct Gateway(pub(super) Rc<Servers>);

pub(super) struct Servers {
    pub(super) client: McpClient,
    pub(super) mounts: Vec<Rc<Mounted>>,
    pub(super) catalogue: Catalogue,
}

impl Gateway {
    /// Returns the client of the gateway, for the pages of a [`SignIn`](crate::client::SignIn).
    pub fn client(&self) -> &McpClient {
        &self.0.client
    }

    /// Returns the mount of a name, and the rest of the name.
    pub(super) fn mount_of<'n>(&self, name: &'n str) -> Option<(&Rc<Mounted>, &'n str)> {
        if let [only] = &*self.0.mounts
            && !only.settings.has_prefix
        {
            return Some((only, name));
        }
        let (mount, rest) = name.split_once('_').filter(|(_, rest)| !rest.is_empty())?;
        Some((self.0.mounts.iter().find(|known| known.name == mount)?, rest))
    }

    /// Returns the server to which a URI belongs, and the URI there.
    pub(super) fn server_of_uri(&self, shown: &str) -> Option<(&Rc<Mounted>, String)> {
        let mut mounts = self.0.mounts.iter().filter(|mount| mount.settings.has_resources);
        mounts.find_map(|mount| Some((mount, mount.own_uri(shown)?.into_owned())))
    }

    /// Reads a list of all servers that have lists of this kind.
    pub(super) async fn lists(&self, kind: ListKind, cx: &Context) -> Vec<(Rc<Mounted>, Result<Rc<Listing>, String>)> {
        self.lists_of(kind, cx, |mount| match kind {
            ListKind::Tools => true,
            ListKind::Resources | ListKind::ResourceTemplates => mount.settings.has_resources,
            ListKind::Prompts => mount.shows_prompts(),
        })
        .await
    }

    /// Reads a list of the servers that `is_asked` chooses, several at the same time. After 8 s, the servers that have not answered are missing.
    pub(super) async fn lists_of(
        &self,
        kind: ListKind,
        cx: &Context,
        is_asked: impl Fn(&Mounted) -> bool,
    ) -> Vec<(Rc<Mounted>, Result<Rc<Listing>, String>)> {
        let ends = end_of_lists(cx);
        let bytes = Bytes::of(self.0.mounts.len());
        let asked = self.0.mounts.iter().filter(|mount| is_asked(mount)).map(|mount| {
            let bytes = &bytes;
            async move {
                let list = until(mount, ends, cx, mount.list(kind, cx)).await.and_then(|list| {
                    mount.warn_of_left_out(&list, cx);
                    let length = list.items.iter().fold(0, |sum: usize, item| sum.saturating_add(item.raw().len()));
                    let is_left_out =
                        |why: &str| Err(format!("The server `{}` is left out, because {why}.", mount.name));
                    if length > GATEWAY_LIST_BYTES {
                        return is_left_out("its list is too long");
                    }
                    if bytes.take(length) { Ok(list) } else { is_left_out("the lists of all servers are too long") }
                });
                (mount.clone(), list)
            }
            .boxed_local()
        });
        parallel(asked, UPSTREAM_PARALLEL).await
    }
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
        let shows_apps = settings.iter().any(|(_, settings)| settings.shows_apps);
        let mounted = |(nth, (mount_name, settings))| {
            Rc::new(Mounted {
                name: mount_name,
                nth,
                settings,
                client: client.clone(),
                gateway: name.clone(),
                longest_name,
                is_beside_apps: shows_apps,
                breakers: Breakers::default(),
            })
        };
        let mounts = settings.into_iter().enumerate().map(mounted).collect();
        Ok(Gateway(Rc::new(Servers { client, mounts, catalogue })))
    }
}

/// The bytes that the lists of all servers can have together. Each server has an equal share of one half. The other half is for the servers
/// that answer first.
pub(super) struct Bytes {
    share: usize,
    rest: Cell<usize>,
}

impl Bytes {
    /// Creates the bytes of this number of servers.
    pub(super) fn of(servers: usize) -> Self {
        let half = GATEWAY_LISTS_BYTES / 2;
        Self { share: half.checked_div(servers).unwrap_or(half), rest: Cell::new(half) }
    }

    /// Takes the bytes of the list of a server. Returns whether there were enough.
    pub(super) fn take(&self, bytes: usize) -> bool {
        let rest = self.rest.get().checked_sub(bytes.saturating_sub(self.share));
        self.rest.set(rest.unwrap_or_else(|| self.rest.get()));
        rest.is_some()
    }
}

/// Returns the time at which the lists of all servers must have been read, in milliseconds since 1970.
pub(super) fn end_of_lists(cx: &Context) -> u64 {
    cx.now_ms().saturating_add(GATEWAY_LIST_SECONDS.saturating_mul(1000))
}

/// Reads a list of a server until `ends`, in milliseconds since 1970.
pub(super) async fn until<T>(
    mount: &Mounted,
    ends: u64,
    cx: &Context,
    list: impl Future<Output = Result<T, ClientError>>,
) -> Result<T, String> {
    let left = ends.saturating_sub(cx.now_ms());
    if left == 0 {
        return Err(format!("The server `{}` was not asked: the others took {GATEWAY_LIST_SECONDS} s.", mount.name));
    }
    match select(list.boxed_local(), cx.host().sleep(Duration::from_millis(left))).await {
        Either::Left((list, _)) => list.map_err(|error| error.to_string()),
        Either::Right(_) => Err(format!("The server `{}` did not answer within {GATEWAY_LIST_SECONDS} s.", mount.name)),
    }
}
