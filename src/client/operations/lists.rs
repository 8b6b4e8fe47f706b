//! The requests for the lists of servers, with all their pages.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use edge_json::Value;
use futures::FutureExt;
use futures::lock::Mutex;

use super::definition::{Definition, Names, protocol_names};
use super::list_cache::{Cached, Key, time_to_live};
use super::listing::{Definitions, ListLock, ListResult, Listing};
use super::pages::read_pages;
use crate::client::error::ClientError;
use crate::client::session::channel::Channel;
use crate::client::session::request::Session;
use crate::client::wire::message::Params;
use crate::host::log;
use crate::protocol::revision::Era;
use crate::server::list::ListKind;

/// The lists of one server, for one call of a handler.
pub(in crate::client) struct Lists {
    channel: Rc<Channel>,
    session: Rc<Session>,
    /// The tools of the server if they were listed in this call, and the number of changes before.
    tools: RefCell<Option<(u64, Rc<Listing>)>>,
    list_locks: RefCell<Vec<ListLock>>,
}

impl Lists {
    pub(in crate::client) fn new(session: Rc<Session>) -> Self {
        let channel = session.channel.clone();
        Self { channel, session, tools: RefCell::default(), list_locks: RefCell::default() }
    }

    /// Returns a list: from the cache, or from the server. A task that asks for a list while another task reads it waits for this list.
    pub(super) async fn list(&self, kind: ListKind) -> ListResult {
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
        let mut locks = self.list_locks.borrow_mut();
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
            self.tools.borrow().as_ref().filter(|(changes, _)| *changes == self.channel.list_changes.get())
        {
            return find(list);
        }
        // The key needs the credential, which the program or an authorization server may have to provide.
        if self.channel.client().0.lists.is_empty() {
            return None;
        }
        let cached = self.cached(&self.list_key(ListKind::Tools).await.ok()?)?;
        let list =
            cached.is_fresh(self.channel.host().now_ms()).then(|| self.keep(ListKind::Tools, cached.list.clone()))?;
        find(&list)
    }

    async fn cached_or_new_list(&self, kind: ListKind) -> Result<Rc<Listing>, ClientError> {
        let cached = self.cached_list(kind).await?;
        if let Some(list) = cached.as_ref().filter(|list| !list.is_stale) {
            return Ok(list.clone());
        }
        // A server that states its capabilities, but not this one, has no such definitions.
        if self
            .channel
            .about
            .borrow()
            .as_ref()
            .is_some_and(|about| !about.has_capability(protocol_names(kind).capability))
        {
            return Ok(self.keep(kind, Rc::default()));
        }
        match (self.new_list(kind).await, cached) {
            (Err(error), Some(stale)) if error.failure().is_outage() => {
                log::warning(self.channel.host(), "stale list of an MCP server", &error.to_string());
                Ok(self.keep(kind, stale))
            }
            (list, _) => list,
        }
    }

    /// Returns a list from the cache, or `None`. An expired list is stale: it may replace the list of a server that fails.
    pub(super) async fn cached_list(&self, kind: ListKind) -> Result<Option<Rc<Listing>>, ClientError> {
        let Some(cached) = self.cached(&self.list_key(kind).await?) else { return Ok(None) };
        if cached.is_fresh(self.channel.host().now_ms()) {
            return Ok(Some(self.keep(kind, cached.list)));
        }
        Ok(Some(Rc::new(Listing { is_stale: true, ..Rc::unwrap_or_clone(cached.list) })))
    }

    /// Reads a list from the server, and caches it if the server permits this.
    pub(in crate::client) async fn new_list(&self, kind: ListKind) -> Result<Rc<Listing>, ClientError> {
        let changes = self.channel.server().changes.get();
        let (list, time) = self.pages(kind).await?;
        let (list, time) = (Rc::new(list), time.min(self.channel.upstream().longest_ttl));
        // The pages may have led to another token. The key has the token that the server accepted.
        let key = self.list_key(kind).await?;
        // A list that has changed meanwhile may be out of date.
        if self.channel.server().changes.get() == changes {
            let (server, now) = (&self.channel.server().name, self.channel.host().now_ms());
            self.channel.client().0.lists.insert(server, key, &list, time, now);
        }
        Ok(self.keep(kind, list))
    }

    /// Keeps the tools for the rest of the connection: calls need their definitions.
    fn keep(&self, kind: ListKind, list: Rc<Listing>) -> Rc<Listing> {
        if kind == ListKind::Tools {
            self.tools.replace(Some((self.channel.list_changes.get(), list.clone())));
        }
        list
    }

    fn cached(&self, key: &Key) -> Option<Cached> {
        self.channel.client().0.lists.get(key, self.channel.host().now_ms())
    }

    async fn list_key(&self, kind: ListKind) -> Result<Key, ClientError> {
        let credential = self
            .channel
            .credential()
            .await
            .map_err(|failed| self.channel.failed(protocol_names(kind).method.name().into(), failed))?;
        let upstream = self.channel.upstream();
        let parts = [&*self.channel.server().name, upstream.url.as_str(), protocol_names(kind).method.name()];
        Ok(Key::of(parts, credential.as_ref(), &self.channel.own_headers(), &self.channel.forwarded_meta()))
    }

    /// Reads a list, and returns the time for which it is fresh. Beyond a limit, the items so far are returned.
    async fn pages(&self, kind: ListKind) -> Result<(Listing, Duration), ClientError> {
        let Names { method, list, .. } = protocol_names(kind);
        let mut time = Duration::MAX;
        let mut definitions = Definitions::default();
        let mut page = |result: Value<'_>, items: Value<'_>| {
            time = time.min(match self.channel.known().era() {
                Era::Modern => time_to_live(result),
                Era::Legacy => self.channel.upstream().list_ttl,
            });
            definitions.add(&self.channel.server().name, kind, items, &|_| true)
        };
        match read_pages(&self.session, method, Params::default(), list, &mut page).await {
            Ok(is_whole) => definitions.listing.is_truncated = !is_whole,
            // A server without such definitions does not have to implement the method.
            Err(error) if time == Duration::MAX && error.failure().is_unknown_method() => time = Duration::ZERO,
            Err(error) => return Err(error),
        }
        Ok((definitions.listing, time))
    }
}
