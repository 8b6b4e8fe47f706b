//! The cache of lists for the time between calls.
//!
//! A list belongs to the credential with which it was requested, even if the server says that it is public. The cache holds only finished
//! lists, because on Workers a request cannot wait for a fetch that another request has started.
//!
//! Source: 2026-07-28, server/utilities/caching.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use edge_json::{Kind, Value};
use http::{HeaderName, HeaderValue};
use sha2::{Digest, Sha256};

use super::definition::Definition;
use super::listing::Listing;
use crate::limits::{UPSTREAM_LIST_BYTES, UPSTREAM_LISTS, UPSTREAM_STALE_SECONDS};
use crate::text::Text;

/// A digest of everything that a list depends on: the server, the method, the credential, the headers that the program sends, and what it passes
/// on from the `_meta` of its caller.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct ListKey([u8; 32]);

/// The lists of all servers of a client, at most [`UPSTREAM_LISTS`].
///
/// A server decides for how long its lists are cached, and it may have many callers. So a full cache evicts a list of the server that has the
/// most lists: no server can evict the lists of a server that has fewer.
#[derive(Default)]
pub(in crate::client) struct ListCache(RefCell<Vec<Cached>>);

/// A list, and the time until which it is fresh. A stale list replaces the list of a server that fails.
#[derive(Clone)]
pub(super) struct Cached {
    server: Text,
    key: ListKey,
    pub list: Rc<Listing>,
    fresh_until: u64,
}

impl ListKey {
    pub(super) fn of(
        parts: [&str; 3],
        credential: Option<&HeaderValue>,
        headers: &[(HeaderName, HeaderValue)],
        meta: &[(String, String)],
    ) -> Self {
        let mut digest = Sha256::new();
        // Without the lengths, `["ab", ""]` and `["a", "b"]` would have the same digest.
        let mut add = |part: &[u8]| {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        };
        for part in parts {
            add(part.as_bytes());
        }
        add(credential.map_or(b"", HeaderValue::as_bytes));
        add(&headers.len().to_be_bytes());
        for (name, value) in headers {
            add(name.as_str().as_bytes());
            add(value.as_bytes());
        }
        for (name, value) in meta {
            add(name.as_bytes());
            add(value.as_bytes());
        }
        Self(digest.finalize().into())
    }
}

impl ListCache {
    /// Returns a list that is fresh, or that expired less than [`UPSTREAM_STALE_SECONDS`] ago. Times are in milliseconds since 1970.
    pub(super) fn get(&self, key: &ListKey, now: u64) -> Option<Cached> {
        self.0.borrow().iter().find(|cached| cached.key == *key && cached.is_kept(now)).cloned()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Removes the lists of a server, because they have changed.
    pub(in crate::client) fn forget(&self, server: &str) {
        self.0.borrow_mut().retain(|cached| cached.server != server);
    }

    /// Caches a list of `server` that is fresh for `time`.
    pub(super) fn insert(&self, server: &Text, key: ListKey, list: &Rc<Listing>, time: Duration, now: u64) {
        let lengths = list.items.iter().map(Definition::bytes).chain(list.left_out.iter().map(String::len));
        let bytes = lengths.fold(0, usize::saturating_add);
        if time.is_zero() || list.is_truncated || bytes > UPSTREAM_LIST_BYTES {
            return;
        }
        let fresh_until = now.saturating_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        let mut lists = self.0.borrow_mut();
        lists.retain(|cached| cached.key != key && cached.is_kept(now));
        lists.push(Cached { server: server.clone(), key, list: list.clone(), fresh_until });
        if lists.len() > UPSTREAM_LISTS {
            evict(&mut lists);
        }
    }
}

/// Removes the list that expires soonest, of those servers that have the most lists.
fn evict(lists: &mut Vec<Cached>) {
    let number_of = |server: &Text| lists.iter().filter(|cached| cached.server == *server).count();
    let most = lists.iter().map(|cached| number_of(&cached.server)).max();
    let candidates = lists.iter().enumerate().filter(|(_, cached)| Some(number_of(&cached.server)) == most);
    let soonest = candidates.min_by_key(|(_, cached)| cached.fresh_until).map(|(position, _)| position);
    if let Some(position) = soonest {
        lists.remove(position);
    }
}

impl Cached {
    fn is_kept(&self, now: u64) -> bool {
        now < self.fresh_until.saturating_add(UPSTREAM_STALE_SECONDS.saturating_mul(1000))
    }

    pub(super) fn is_fresh(&self, now: u64) -> bool {
        now < self.fresh_until
    }
}

/// Returns the time for which a modern result is fresh. Zero if the result has no valid hint.
pub(super) fn time_to_live(result: Value<'_>) -> Duration {
    let hint = result.get("ttlMs").filter(|hint| hint.kind() == Kind::Number);
    let scope = result.get("cacheScope");
    let is_scope = scope.is_some_and(|scope| scope.is_str("public") || scope.is_str("private"));
    let milliseconds = hint.filter(|_| is_scope).and_then(|hint| hint.text().parse().ok());
    Duration::from_millis(milliseconds.unwrap_or_default())
}
