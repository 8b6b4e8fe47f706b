//! Tokens in memory.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::ready;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::token_store::{TokenStore, TokenStoreError};

/// A store of tokens in the memory of this process, for tests and programs that run natively. Each isolate of a Worker has its own memory,
/// so a Worker needs another store.
#[derive(Debug, Default)]
pub struct MemoryTokens(RefCell<HashMap<String, String>>);

impl MemoryTokens {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of values, for tests.
    pub fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// Returns whether there is no value, for tests.
    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }
}

impl TokenStore for MemoryTokens {
    fn get<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<Option<String>, TokenStoreError>> {
        ready(Ok(self.0.borrow().get(key).cloned())).boxed_local()
    }

    fn replace<'a>(
        &'a self,
        key: &'a str,
        current: Option<&'a str>,
        new: &'a str,
        _: Duration,
    ) -> LocalBoxFuture<'a, Result<bool, TokenStoreError>> {
        let mut values = self.0.borrow_mut();
        let is_current = values.get(key).map(String::as_str) == current;
        if is_current {
            values.insert(key.to_owned(), new.to_owned());
        }
        ready(Ok(is_current)).boxed_local()
    }

    fn remove<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<(), TokenStoreError>> {
        self.0.borrow_mut().remove(key);
        ready(Ok(())).boxed_local()
    }
}
