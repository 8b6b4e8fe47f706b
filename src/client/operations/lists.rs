//! The lists of servers: tools, resources, resource templates and prompts, with all their pages.

use std::rc::Rc;
use std::time::Duration;

use edge_json::Value;
use futures::FutureExt;
use futures::lock::Mutex;

use super::definition::{Definition, Names, protocol_names};
use super::list_cache::{Cached, ListKey, time_to_live};
use super::listing::{DefinitionPages, ListResult, Listing, Toolset};
use crate::client::connection::{Connection, Peer};
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Failure};
use crate::client::mcp_client::Server;
use crate::client::session::remote_request::RemoteRequest;
use crate::client::wire::message::Params;
use crate::client::wire::response::parsed;
use crate::host::log;
use crate::limits::{
    UPSTREAM_CURSOR_BYTES, UPSTREAM_EMPTY_PAGES, UPSTREAM_PAGES, UPSTREAM_PAGES_BYTES, UPSTREAM_PARALLEL,
};
use crate::parallel::parallel;
use crate::protocol::method::Method;
use crate::protocol::revision::Era;
use crate::server::list::ListKind;

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
        self.list(ListKind::Tools).await
    }

    /// Lists the tools of all servers, by server.
    pub async fn list_toolsets(&self) -> Vec<Toolset> {
        let toolset = |(conversation, tools): (Rc<Conversation>, ListResult)| Toolset {
            server: conversation.server.name.clone(),
            tools: tools.map(Rc::unwrap_or_clone),
        };
        self.each_list(ListKind::Tools, |_| true).await.into_iter().map(toolset).collect()
    }

    /// Lists the resources of all servers.
    pub async fn list_resources(&self) -> Listing {
        self.list(ListKind::Resources).await
    }

    /// Lists the resource templates of all servers.
    pub async fn list_resource_templates(&self) -> Listing {
        self.list(ListKind::ResourceTemplates).await
    }

    /// Lists the prompts of all servers.
    pub async fn list_prompts(&self) -> Listing {
        self.list(ListKind::Prompts).await
    }

    /// Joins the lists of all servers. A server that fails does not affect the others.
    async fn list(&self, kind: ListKind) -> Listing {
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
    pub(in crate::client) async fn each_list(
        &self,
        kind: ListKind,
        wanted: impl Fn(&Server) -> bool,
    ) -> Vec<(Rc<Conversation>, ListResult)> {
        let servers = self.conversations().iter().filter(|conversation| wanted(&conversation.server)).cloned();
        let lists = servers.map(|conversation| async move {
            let list = conversation.list(kind).await;
            (conversation, list)
        });
        parallel(lists.map(FutureExt::boxed_local), UPSTREAM_PARALLEL).await
    }
}

impl Peer {
    /// Returns a list from the cache, or `None`. The list may be stale. It does not ask the server.
    #[cfg(feature = "gateway")]
    pub(crate) async fn cached_list(&self, kind: ListKind) -> Result<Option<Rc<Listing>>, ClientError> {
        self.0.cached_list(kind).await
    }

    /// Reads a list from the server.
    #[cfg(feature = "gateway")]
    pub(crate) async fn new_list(&self, kind: ListKind) -> ListResult {
        self.0.new_list(kind).await
    }

    /// Lists the tools.
    ///
    /// # Errors
    /// The server cannot be asked, or its answer is not valid.
    pub async fn list_tools(&self) -> Result<Listing, ClientError> {
        self.0.list(ListKind::Tools).await.map(Rc::unwrap_or_clone)
    }

    /// Lists the resources.
    ///
    /// # Errors
    /// As for [`list_tools`](Self::list_tools).
    pub async fn list_resources(&self) -> Result<Listing, ClientError> {
        self.0.list(ListKind::Resources).await.map(Rc::unwrap_or_clone)
    }

    /// Lists the resource templates.
    ///
    /// # Errors
    /// As for [`list_tools`](Self::list_tools).
    pub async fn list_resource_templates(&self) -> Result<Listing, ClientError> {
        self.0.list(ListKind::ResourceTemplates).await.map(Rc::unwrap_or_clone)
    }

    /// Lists the prompts.
    ///
    /// # Errors
    /// As for [`list_tools`](Self::list_tools).
    pub async fn list_prompts(&self) -> Result<Listing, ClientError> {
        self.0.list(ListKind::Prompts).await.map(Rc::unwrap_or_clone)
    }
}

impl Conversation {
    /// Returns a list: from the cache, or from the server. A task that asks for a list while another task reads it waits for this list.
    pub(super) async fn list(self: &Rc<Self>, kind: ListKind) -> ListResult {
        let lock = self.list_lock(kind);
        if let Some(mut list) = lock.try_lock() {
            // If this task ends early, a waiting task reads the list itself.
            *list = None;
            let result = self.cached_or_new_list(kind).boxed_local().await;
            *list = Some(result.clone());
            return result;
        }
        let mut list = lock.lock().await;
        match &*list {
            Some(result) => result.clone(),
            None => list.insert(self.cached_or_new_list(kind).boxed_local().await).clone(),
        }
    }

    /// Returns the lock that a task holds while it reads a list. It has the last list that was read.
    fn list_lock(&self, kind: ListKind) -> Rc<Mutex<Option<ListResult>>> {
        let mut locks = self.lists.locks.borrow_mut();
        if let Some((_, lock)) = locks.iter().find(|(other, _)| *other == kind) {
            return lock.clone();
        }
        let lock = Rc::default();
        locks.push((kind, Rc::clone(&lock)));
        lock
    }

    /// Returns the definition of the tool `name`, if a list is known. It does not ask the server.
    pub(super) async fn known_tool(&self, name: &str) -> Option<Definition> {
        let find = |list: &Listing| list.items.iter().find(|item| item.is_tool(name)).cloned();
        if let Some((_, list)) =
            self.lists.tools.borrow().as_ref().filter(|(changes, _)| *changes == self.list_changes.get())
        {
            return find(list);
        }
        // The key needs the credential, which the program or an authorization server may have to provide.
        if self.client.0.lists.is_empty() {
            return None;
        }
        let cached = self.cached(&self.list_key(ListKind::Tools).await.ok()?)?;
        let list = cached.is_fresh(self.cx.host().now_ms()).then(|| self.keep(ListKind::Tools, cached.list.clone()))?;
        find(&list)
    }

    async fn cached_or_new_list(self: &Rc<Self>, kind: ListKind) -> Result<Rc<Listing>, ClientError> {
        let cached = self.cached_list(kind).await?;
        if let Some(list) = cached.as_ref().filter(|list| !list.is_stale) {
            return Ok(list.clone());
        }
        // A server that states its capabilities, but not this one, has no such definitions.
        if self.about.borrow().as_ref().is_some_and(|about| !about.has_capability(protocol_names(kind).capability)) {
            return Ok(self.keep(kind, Rc::default()));
        }
        match (self.new_list(kind).await, cached) {
            (Err(error), Some(stale)) if error.failure().is_outage() => {
                log::warning(self.cx.host(), "stale list of an MCP server", &error.to_string());
                Ok(self.keep(kind, stale))
            }
            (list, _) => list,
        }
    }

    /// Returns a list from the cache, or `None`. An expired list is stale: it may replace the list of a server that fails.
    pub(super) async fn cached_list(&self, kind: ListKind) -> Result<Option<Rc<Listing>>, ClientError> {
        let Some(cached) = self.cached(&self.list_key(kind).await?) else { return Ok(None) };
        if cached.is_fresh(self.cx.host().now_ms()) {
            return Ok(Some(self.keep(kind, cached.list)));
        }
        Ok(Some(Rc::new(Listing { is_stale: true, ..Rc::unwrap_or_clone(cached.list) })))
    }

    /// Reads a list from the server, and caches it if the server permits this.
    pub(in crate::client) async fn new_list(self: &Rc<Self>, kind: ListKind) -> Result<Rc<Listing>, ClientError> {
        let changes = self.server.changes.get();
        let (list, time) = self.pages(kind).await?;
        let (list, time) = (Rc::new(list), time.min(self.server.upstream.longest_ttl));
        // The pages may have led to another token. The key has the token that the server accepted.
        let key = self.list_key(kind).await?;
        // A list that has changed meanwhile may be out of date.
        if self.server.changes.get() == changes {
            let (server, now) = (&self.server.name, self.cx.host().now_ms());
            self.client.0.lists.insert(server, key, &list, time, now);
        }
        Ok(self.keep(kind, list))
    }

    /// Keeps the tools for the rest of the connection: calls need their definitions.
    fn keep(&self, kind: ListKind, list: Rc<Listing>) -> Rc<Listing> {
        if kind == ListKind::Tools {
            self.lists.tools.replace(Some((self.list_changes.get(), list.clone())));
        }
        list
    }

    fn cached(&self, key: &ListKey) -> Option<Cached> {
        self.client.0.lists.get(key, self.cx.host().now_ms())
    }

    async fn list_key(&self, kind: ListKind) -> Result<ListKey, ClientError> {
        let method = protocol_names(kind).method.name();
        let credential = self.authorization().await.map_err(self.error_of(method))?;
        let upstream = &self.server.upstream;
        let parts = [&*self.server.name, upstream.url.as_str(), method];
        Ok(ListKey::of(parts, credential.as_ref(), &self.own_headers(), &self.forwarded_meta()))
    }

    /// Reads a list, and returns the time for which it is fresh. Beyond a limit, the items so far are returned.
    async fn pages(self: &Rc<Self>, kind: ListKind) -> Result<(Listing, Duration), ClientError> {
        let Names { method, list, .. } = protocol_names(kind);
        let mut time = Duration::MAX;
        let mut definitions = DefinitionPages::default();
        let mut page = |result: Value<'_>, items: Value<'_>| {
            time = time.min(match self.known().era() {
                Era::Modern => time_to_live(result),
                Era::Legacy => self.server.upstream.list_ttl,
            });
            definitions.add(&self.server.name, kind, items, &|_| true)
        };
        match read_pages(self, method, Params::default(), list, &mut page).await {
            Ok(is_whole) => definitions.listing.is_truncated = !is_whole,
            // A server without such definitions does not have to implement the method.
            Err(error) if time == Duration::MAX && error.failure().is_unknown_method() => time = Duration::ZERO,
            Err(error) => return Err(error),
        }
        Ok((definitions.listing, time))
    }
}

/// Reads the pages of the list that the member `list` of a result has. `page` gets each result and its list, and returns whether it needs
/// more. Returns whether these are all pages.
pub(super) async fn read_pages(
    conversation: &Rc<Conversation>,
    method: Method,
    params: Params,
    list: &str,
    page: &mut dyn FnMut(Value<'_>, Value<'_>) -> bool,
) -> Result<bool, ClientError> {
    let mut cursors: Vec<String> = Vec::new();
    let mut empty_pages = 0_usize;
    let sent = conversation.sent.get();
    let timeout = conversation.server.upstream.list_timeout;
    let first = RemoteRequest {
        deadline: Some(conversation.deadline(timeout)),
        // An answer may have much besides its items, which the client has to read.
        most_bytes: UPSTREAM_PAGES_BYTES,
        ..RemoteRequest::new(method, params, timeout)
    };
    let received = &first.attempts.received;
    let malformed = |problem| conversation.error_of(first.method.clone())(Failure::Malformed(problem).into());
    for _ in 0..UPSTREAM_PAGES {
        let mut request = first.clone();
        if let Some(cursor) = cursors.last() {
            request.params = request.params.with_text("cursor", cursor);
        }
        first.attempts.repetitions.set(0);
        let result = match conversation.result(&request).await {
            Ok(result) => result,
            Err(error) if !cursors.is_empty() && is_limit(&error, received.get()) => return Ok(false),
            Err(error) => return Err(error),
        };
        let document = parsed(&result).map_err(conversation.error_of(first.method.clone()))?;
        let result = document.root();
        let items = result.get(list).ok_or_else(|| malformed("has a result without the list"))?;
        if items.items().next().is_none() {
            empty_pages = empty_pages.saturating_add(1);
        }
        if !page(result, items) {
            return Ok(false);
        }
        let sent = conversation.sent.get().saturating_sub(sent);
        // Some servers end a list with an empty cursor.
        match result.string("nextCursor").filter(|cursor| !cursor.is_empty()) {
            None => return Ok(true),
            Some(_) if !conversation.budget.leaves_a_share(sent) => return Ok(false),
            // A cursor that repeats would make the loop endless.
            Some(cursor) if cursors.contains(&cursor) || cursor.len() > UPSTREAM_CURSOR_BYTES => return Ok(false),
            Some(_) if empty_pages >= UPSTREAM_EMPTY_PAGES || received.get() > UPSTREAM_PAGES_BYTES => {
                return Ok(false);
            }
            Some(cursor) => cursors.push(cursor),
        }
    }
    Ok(false)
}

/// Returns whether a page is too long, alone or with the pages before it.
fn is_limit(error: &ClientError, received: usize) -> bool {
    received > UPSTREAM_PAGES_BYTES || matches!(error.failure(), Failure::LimitExceeded(_))
}
