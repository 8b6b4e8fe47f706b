//! The requests for the lists of servers, with all their pages.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use edge_json::{Document, JsonLimits};
use futures::FutureExt;
use futures::lock::Mutex;

use super::connection::{Connection, Link, Peer};
use super::definition::{Kind, Listed, PROMPTS, RESOURCES, TEMPLATES, TOOLS};
use super::error::{ClientError, Failure};
use super::list_cache::{Cached, Key, time_to_live};
use super::listing::{Listing, Outcome, Toolset};
use super::mcp_client::Server;
use super::message::Params;
use super::request::Outgoing;
use crate::host::{Level, warning};
use crate::limits::{
    UPSTREAM_CURSOR_BYTES, UPSTREAM_EMPTY_PAGES, UPSTREAM_ITEMS, UPSTREAM_ITEMS_BYTES, UPSTREAM_PAGES,
    UPSTREAM_PAGES_BYTES, UPSTREAM_PARALLEL,
};
use crate::parallel::parallel;
use crate::protocol::method::Method;
use crate::protocol::revision::Era;

impl Connection {
    /// Lists the tools of all servers. If a server fails, [`Listing::missing`] has its error.
    ///
    /// ```
    /// use edge_mcp::client::McpClient;
    /// use edge_mcp::Context;
    ///
    /// async fn names(client: McpClient, cx: Context) -> Vec<String> {
    ///     let listing = client.connect(&cx).list_tools().await;
    ///     let names = listing.items.iter().map(|tool| tool.full_name().to_owned());
    ///     names.chain(listing.missing.iter().map(ToString::to_string)).collect()
    /// }
    /// ```
    pub async fn list_tools(&self) -> Listing {
        self.list(TOOLS).await
    }

    /// Lists the tools of all servers, by server.
    pub async fn list_toolsets(&self) -> Vec<Toolset> {
        let toolset = |(link, tools): (Rc<Link>, Outcome)| Toolset {
            server: link.server().name.clone(),
            tools: tools.map(Rc::unwrap_or_clone),
        };
        self.each_list(TOOLS, |_| true).await.into_iter().map(toolset).collect()
    }

    /// Lists the resources of all servers.
    pub async fn list_resources(&self) -> Listing {
        self.list(RESOURCES).await
    }

    /// Lists the resource templates of all servers.
    pub async fn list_resource_templates(&self) -> Listing {
        self.list(TEMPLATES).await
    }

    /// Lists the prompts of all servers.
    pub async fn list_prompts(&self) -> Listing {
        self.list(PROMPTS).await
    }

    /// Joins the lists of all servers. A server that fails does not affect the others.
    async fn list(&self, kind: Kind) -> Listing {
        let mut all = Listing::default();
        for (_, list) in self.each_list(kind, |_| true).await {
            match list {
                Ok(list) => {
                    all.items.extend_from_slice(&list.items);
                    all.left_out.extend_from_slice(&list.left_out);
                    all.is_truncated |= list.is_truncated;
                    all.is_stale |= list.is_stale;
                }
                Err(error) => all.missing.push(error),
            }
        }
        all
    }

    /// Returns the lists of the servers that are `wanted`. Several servers are asked at the same time.
    pub(super) async fn each_list(&self, kind: Kind, wanted: impl Fn(&Server) -> bool) -> Vec<(Rc<Link>, Outcome)> {
        let links = self.links().iter().filter(|link| wanted(link.server())).cloned();
        let asked = links.map(|link| async move {
            let list = link.list(kind).await;
            (link, list)
        });
        parallel(asked.map(FutureExt::boxed_local), UPSTREAM_PARALLEL).await
    }
}

impl Peer {
    /// Lists the tools.
    ///
    /// # Errors
    /// The server cannot be asked, or its answer is not valid.
    pub async fn list_tools(&self) -> Result<Listing, ClientError> {
        self.0.list(TOOLS).await.map(Rc::unwrap_or_clone)
    }

    /// Lists the resources.
    ///
    /// # Errors
    /// As for [`list_tools`](Self::list_tools).
    pub async fn list_resources(&self) -> Result<Listing, ClientError> {
        self.0.list(RESOURCES).await.map(Rc::unwrap_or_clone)
    }

    /// Lists the resource templates.
    ///
    /// # Errors
    /// As for [`list_tools`](Self::list_tools).
    pub async fn list_resource_templates(&self) -> Result<Listing, ClientError> {
        self.0.list(TEMPLATES).await.map(Rc::unwrap_or_clone)
    }

    /// Lists the prompts.
    ///
    /// # Errors
    /// As for [`list_tools`](Self::list_tools).
    pub async fn list_prompts(&self) -> Result<Listing, ClientError> {
        self.0.list(PROMPTS).await.map(Rc::unwrap_or_clone)
    }
}

/// Returns the number of bytes that all answers to a request may have together: for a list, the answers with all its pages.
pub(super) fn most_bytes(method: Method) -> usize {
    let is_list = [TOOLS, RESOURCES, TEMPLATES, PROMPTS].iter().any(|kind| kind.method == method);
    if is_list { UPSTREAM_PAGES_BYTES } else { usize::MAX }
}

impl Link {
    /// Returns a list: from the cache, or from the server. A task that asks for a list while another task reads it waits for this list.
    pub(super) async fn list(&self, kind: Kind) -> Outcome {
        let lock = self.list_lock(kind);
        if let Some(mut list) = lock.try_lock() {
            // If this task ends early, a waiting task reads the list itself.
            *list = None;
            let outcome = self.cached_or_new_list(kind).boxed_local().await;
            *list = Some(outcome.clone());
            return outcome;
        }
        let mut list = lock.lock().await;
        match &*list {
            Some(outcome) => outcome.clone(),
            None => list.insert(self.cached_or_new_list(kind).boxed_local().await).clone(),
        }
    }

    /// Returns the lock that a task holds while it reads a list. It has the last list that was read.
    fn list_lock(&self, kind: Kind) -> Rc<Mutex<Option<Outcome>>> {
        let mut locks = self.list_locks.borrow_mut();
        if let Some((_, lock)) = locks.iter().find(|(other, _)| *other == kind) {
            return lock.clone();
        }
        let lock = Rc::default();
        locks.push((kind, Rc::clone(&lock)));
        lock
    }

    /// Returns the definition of the tool `name`, if a list is known. It does not ask the server.
    pub(super) async fn known_tool(&self, name: &str) -> Option<Listed> {
        let find = |list: &Listing| list.items.iter().find(|item| item.is_tool(name)).cloned();
        if let Some(list) = &*self.tools.borrow() {
            return find(list);
        }
        // The key needs the credential, which the program or an authorization server may have to provide.
        if self.lists().is_empty() {
            return None;
        }
        let cached = self.cached(&self.list_key(TOOLS).await.ok()?)?;
        let list = cached.is_fresh(self.host().now_ms()).then(|| self.keep(TOOLS, cached.list.clone()))?;
        find(&list)
    }

    async fn cached_or_new_list(&self, kind: Kind) -> Result<Rc<Listing>, ClientError> {
        let key = self.list_key(kind).await?;
        let cached = self.cached(&key);
        if let Some(cached) = cached.as_ref().filter(|cached| cached.is_fresh(self.host().now_ms())) {
            return Ok(self.keep(kind, cached.list.clone()));
        }
        // A server that states its capabilities, but not this one, has no such definitions.
        if self.about.borrow().as_ref().is_some_and(|about| !about.has_capability(kind.capability)) {
            return Ok(self.keep(kind, Rc::default()));
        }
        match self.new_list(kind).await {
            Err(error) if error.failure().is_outage() && cached.is_some() => {
                warning::log(self.host(), Level::Warning, "stale list of an MCP server", &error.to_string());
                let list = cached.map_or_else(Listing::default, |cached| Rc::unwrap_or_clone(cached.list));
                Ok(self.keep(kind, Rc::new(Listing { is_stale: true, ..list })))
            }
            list => list,
        }
    }

    /// Reads a list from the server, and caches it if the server permits this.
    pub(super) async fn new_list(&self, kind: Kind) -> Result<Rc<Listing>, ClientError> {
        let key = self.list_key(kind).await?;
        let (list, time) = self.pages(kind).await?;
        let list = Rc::new(list);
        self.lists().insert(key, &list, time, self.host().now_ms());
        Ok(self.keep(kind, list))
    }

    /// Keeps the tools for the rest of the connection: calls need their definitions.
    fn keep(&self, kind: Kind, list: Rc<Listing>) -> Rc<Listing> {
        if kind == TOOLS {
            self.tools.replace(Some(list.clone()));
        }
        list
    }

    /// Forgets the lists of the server if the notification is that a list has changed.
    pub(super) fn notice_change(&self, notification: &str) {
        if notification.ends_with("/list_changed") {
            let changes = &self.server().changes;
            changes.set(changes.get().wrapping_add(1));
            self.tools.replace(None);
        }
    }

    fn cached(&self, key: &Key) -> Option<Cached> {
        self.lists().get(key, self.host().now_ms())
    }

    async fn list_key(&self, kind: Kind) -> Result<Key, ClientError> {
        let credential = self.credential().await.map_err(|failed| self.failed(kind.method, failed))?;
        let upstream = self.upstream();
        let parts = [&*self.server().name, upstream.url.as_str(), kind.method.name()];
        let changes = self.server().changes.get();
        Ok(Key::of(parts, changes, credential.as_ref(), &upstream.headers))
    }

    /// Reads a list page by page, and returns the time for which it is fresh. Beyond a limit, the items so far are returned.
    async fn pages(&self, kind: Kind) -> Result<(Listing, Duration), ClientError> {
        let method = kind.method;
        let mut listing = Listing::default();
        let mut time = Duration::MAX;
        let mut cursors: Vec<String> = Vec::new();
        let mut names = BTreeSet::new();
        let (mut bytes, mut empty_pages) = (0_usize, 0_usize);
        // An answer may have much besides its items, which the client has to read.
        let received = Rc::<Cell<usize>>::default();
        let deadline = self.deadline(self.upstream().list_timeout);
        for _ in 0..UPSTREAM_PAGES {
            let params =
                cursors.last().map_or_else(Params::default, |cursor| Params::default().with_text("cursor", cursor));
            let mut outgoing = Outgoing::new(method, params, self.upstream().list_timeout);
            outgoing.deadline = Some(deadline);
            outgoing.received = received.clone();
            let result = match self.request(&outgoing).await {
                Ok(result) => result,
                // A server without such definitions does not have to implement the method.
                Err(error) if cursors.is_empty() && error.failure().is_unknown_method() => {
                    return Ok((listing, Duration::ZERO));
                }
                Err(_) if !cursors.is_empty() && received.get() > UPSTREAM_PAGES_BYTES => break,
                Err(error) => return Err(error),
            };
            let malformed = |problem| ClientError::new(&self.server().name, method.name(), Failure::Malformed(problem));
            let document = Document::parse(result.get().as_bytes(), JsonLimits::MOST);
            let document = document.map_err(|_| malformed("has a result that is not JSON"))?;
            let items = document.root().get(kind.list).ok_or_else(|| malformed("has a result without the list"))?;
            time = time.min(match self.known().era() {
                Era::Modern => time_to_live(document.root()),
                Era::Legacy => self.upstream().list_ttl,
            });
            if items.items().next().is_none() {
                empty_pages = empty_pages.saturating_add(1);
            }
            for item in items.items() {
                bytes = bytes.saturating_add(item.text().len());
                let is_full = bytes > UPSTREAM_ITEMS_BYTES;
                if is_full || listing.items.len().saturating_add(listing.left_out.len()) >= UPSTREAM_ITEMS {
                    listing.is_truncated = true;
                    return Ok((listing, time));
                }
                match Listed::read(&self.server().name, kind, item) {
                    // Of two items with one name, the first counts. A later page cannot replace an item.
                    Ok(item) if !names.insert(item.name().to_owned()) => listing.left_out.push(item.is_listed_twice()),
                    Ok(item) => listing.items.push(item),
                    Err(problem) => listing.left_out.push(problem),
                }
            }
            match document.root().string("nextCursor") {
                None => return Ok((listing, time)),
                // A cursor that repeats would make the loop endless.
                Some(cursor) if cursors.contains(&cursor) || cursor.len() > UPSTREAM_CURSOR_BYTES => break,
                Some(_) if empty_pages >= UPSTREAM_EMPTY_PAGES || received.get() > UPSTREAM_PAGES_BYTES => break,
                Some(cursor) => cursors.push(cursor),
            }
        }
        listing.is_truncated = true;
        Ok((listing, time))
    }
}
