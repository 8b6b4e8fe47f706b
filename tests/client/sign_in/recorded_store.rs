//! A store that records its writes, and that fails when a test says so.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::ready;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::client::{TokenStore, TokenStoreError};
use edge_mcp::host::Host;
use edge_mcp::testing::TestHost;
use futures::FutureExt;
use futures::future::LocalBoxFuture;

/// A store around another one. A clone is the same store.
#[derive(Clone)]
pub struct RecordedStore(Rc<State>);

struct State {
    inner: Box<dyn TokenStore>,
    rows: RefCell<BTreeMap<String, String>>,
    keeps: RefCell<Vec<Duration>>,
    /// The number of operations that still succeed. `None` means that there is no limit.
    remaining: Cell<Option<usize>>,
    /// The operation that fails once: the number of operations before it, and whether a write is made nevertheless.
    fails_once: Cell<Option<(usize, bool)>>,
    /// The operation that is slow: the number of operations before it, the clock, and its time.
    slow: RefCell<Option<(usize, TestHost, Duration)>>,
    events: Rc<RefCell<Vec<String>>>,
}

impl RecordedStore {
    pub fn new(inner: impl TokenStore + 'static, events: &Rc<RefCell<Vec<String>>>) -> Self {
        Self(Rc::new(State {
            inner: Box::new(inner),
            rows: RefCell::default(),
            keeps: RefCell::default(),
            remaining: Cell::new(None),
            fails_once: Cell::new(None),
            slow: RefCell::default(),
            events: events.clone(),
        }))
    }

    /// Returns the current rows.
    pub fn rows(&self) -> BTreeMap<String, String> {
        self.0.rows.borrow().clone()
    }

    /// Returns the times for which the values were to be kept, in order.
    pub fn keeps(&self) -> Vec<Duration> {
        self.0.keeps.borrow().clone()
    }

    /// Lets all operations fail after the next `operations`.
    pub fn fail_after(&self, operations: usize) {
        self.0.remaining.set(Some(operations));
    }

    /// Lets one operation fail, after the next `operations`. If it is a write, the value may be written.
    pub fn fail_once_after(&self, operations: usize, is_written: bool) {
        self.0.fails_once.set(Some((operations, is_written)));
    }

    /// Returns whether this operation fails once, and whether its value is written.
    fn failure_once(&self) -> Option<bool> {
        match self.0.fails_once.take() {
            Some((0, is_written)) => Some(is_written),
            Some((operations, is_written)) => {
                self.0.fails_once.set(Some((operations - 1, is_written)));
                None
            }
            None => None,
        }
    }

    /// Lets the answer to one operation take some time, after the next `operations`.
    pub fn slow_after(&self, operations: usize, host: &TestHost, time: Duration) {
        self.0.slow.replace(Some((operations, host.clone(), time)));
    }

    /// Waits if this operation is the slow one.
    async fn pause(&self) {
        let slow = self.0.slow.take();
        match slow {
            Some((0, host, time)) => host.sleep(time).await,
            Some((operations, host, time)) => drop(self.0.slow.replace(Some((operations - 1, host, time)))),
            None => {}
        }
    }

    pub fn recover(&self) {
        self.0.remaining.set(None);
    }

    fn fails(&self) -> bool {
        let left = self.0.remaining.get();
        self.0.remaining.set(left.map(|left| left.saturating_sub(1)));
        left == Some(0)
    }

    fn event(&self, event: &str) {
        self.0.events.borrow_mut().push(event.to_owned());
    }
}

fn failure<'a, T: 'a>() -> LocalBoxFuture<'a, Result<T, TokenStoreError>> {
    ready(Err(TokenStoreError::new("the disk is full: STORE-DETAIL"))).boxed_local()
}

impl TokenStore for RecordedStore {
    fn get<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<Option<String>, TokenStoreError>> {
        if self.fails() {
            return failure();
        }
        if self.failure_once().is_some() {
            return failure();
        }
        self.event("get");
        async move {
            let value = self.0.inner.get(key).await;
            self.pause().await;
            value
        }
        .boxed_local()
    }

    fn replace<'a>(
        &'a self,
        key: &'a str,
        current: Option<&'a str>,
        new: &'a str,
        keep: Duration,
    ) -> LocalBoxFuture<'a, Result<bool, TokenStoreError>> {
        if self.fails() {
            return failure();
        }
        let fails_once = self.failure_once();
        if fails_once == Some(false) {
            return failure();
        }
        async move {
            let is_replaced = self.0.inner.replace(key, current, new, keep).await?;
            if is_replaced {
                self.0.rows.borrow_mut().insert(key.to_owned(), new.to_owned());
                self.0.keeps.borrow_mut().push(keep);
                self.event("replace");
            }
            self.pause().await;
            if fails_once.is_some() {
                return Err(TokenStoreError::new("the answer is lost"));
            }
            Ok(is_replaced)
        }
        .boxed_local()
    }

    fn remove<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<(), TokenStoreError>> {
        if self.fails() {
            return failure();
        }
        self.event("remove");
        self.0.rows.borrow_mut().remove(key);
        self.0.inner.remove(key)
    }
}
