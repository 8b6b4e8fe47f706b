//! A store of keys and values for tests.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};

use super::host::TestHost;
use crate::host::Host;
use crate::limits::KV_PAGE;
use crate::storage::{KvEngine, KvError, KvKey, KvKeys, KvStore, ListKeys};

/// A store of keys and values for tests: a map with the clock of a [`TestHost`]. A clone is another handle of the same store.
///
/// Values expire when the clock reaches their time. [`delayed`](Self::delayed) lets readers get old values, as Workers KV does:
///
/// ```
/// use std::time::Duration;
///
/// use edge_mcp::testing::{self, TestHost, TestKv};
///
/// let host = TestHost::new();
/// let test = TestKv::new(&host).delayed(Duration::from_secs(60));
/// testing::run(async {
///     let store = test.store();
///     store.put("count", "1").await?;
///     host.advance(Duration::from_secs(60));
///     // Both writers read 1, so one of their updates is lost.
///     for _ in 0..2 {
///         let count: u32 = store.get_json("count").await?.unwrap_or(0);
///         store.put_json("count", &(count + 1)).await?;
///     }
///     host.advance(Duration::from_secs(60));
///     assert_eq!(store.get("count").await?.as_deref(), Some("2"));
///     Ok::<_, edge_mcp::storage::KvError>(())
/// }).expect("the store does not fail");
/// ```
#[derive(Clone)]
#[must_use]
pub struct TestKv(Rc<Map>);

struct Map {
    host: TestHost,
    delay_ms: Cell<u64>,
    /// The writes of each key, the newest last. Deletions are writes without a value.
    writes: RefCell<BTreeMap<String, Vec<Write>>>,
}

#[derive(Clone)]
struct Write {
    at_ms: u64,
    value: Option<Vec<u8>>,
    expires: Option<u64>,
}

impl TestKv {
    /// Creates an empty store with the clock of `host`.
    pub fn new(host: &TestHost) -> Self {
        Self(Rc::new(Map { host: host.clone(), delay_ms: Cell::new(0), writes: RefCell::default() }))
    }

    /// Lets readers see a write only after this time.
    pub fn delayed(self, time: Duration) -> Self {
        self.0.delay_ms.set(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        self
    }

    /// Returns the store, for the state of an endpoint. Its name is `KV`.
    pub fn store(&self) -> KvStore {
        KvStore::new("KV", self.clone())
    }
}

impl Map {
    /// Returns the value that a reader sees now.
    fn visible(&self, writes: &[Write]) -> Option<Write> {
        let now = self.host.now_ms();
        let is_seen = |write: &&Write| write.at_ms.saturating_add(self.delay_ms.get()) <= now;
        let seen = writes.iter().rev().find(is_seen)?;
        let is_expired = seen.expires.is_some_and(|seconds| seconds.saturating_mul(1000) <= now);
        (seen.value.is_some() && !is_expired).then(|| seen.clone())
    }

    fn write(&self, key: &str, value: Option<Vec<u8>>, expires: Option<u64>) {
        let at_ms = self.host.now_ms();
        let expires = expires.map(|seconds| seconds.saturating_add(at_ms / 1000));
        let mut all = self.writes.borrow_mut();
        all.entry(key.to_owned()).or_default().push(Write { at_ms, value, expires });
    }

    fn list(&self, ListKeys { prefix, limit, cursor }: &ListKeys) -> KvKeys {
        let writes = self.writes.borrow();
        let after = |key: &str| cursor.as_deref().is_none_or(|cursor| key > cursor);
        let keys = writes.iter().filter(|(key, _)| key.starts_with(prefix.as_str()) && after(key));
        let mut keys = keys
            .filter_map(|(name, writes)| Some(KvKey { name: name.clone(), expires: self.visible(writes)?.expires }));
        let page: Vec<_> = keys.by_ref().take(limit.unwrap_or(KV_PAGE)).collect();
        let cursor = keys.next().and(page.last()).map(|last| last.name.clone());
        KvKeys { keys: page, cursor }
    }
}

impl KvEngine for TestKv {
    fn get(&self, key: &str) -> LocalBoxFuture<'_, Result<Option<Vec<u8>>, KvError>> {
        let writes = self.0.writes.borrow();
        let value = writes.get(key).and_then(|writes| self.0.visible(writes)?.value);
        ready(Ok(value)).boxed_local()
    }

    fn put(&self, key: &str, value: &[u8], expires: Option<u64>) -> LocalBoxFuture<'_, Result<(), KvError>> {
        self.0.write(key, Some(value.to_vec()), expires);
        ready(Ok(())).boxed_local()
    }

    fn delete(&self, key: &str) -> LocalBoxFuture<'_, Result<(), KvError>> {
        self.0.write(key, None, None);
        ready(Ok(())).boxed_local()
    }

    fn list(&self, list: ListKeys) -> LocalBoxFuture<'_, Result<KvKeys, KvError>> {
        ready(Ok(self.0.list(&list))).boxed_local()
    }
}

impl fmt::Debug for TestKv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestKv").field("keys", &self.0.writes.borrow().keys()).finish_non_exhaustive()
    }
}
