//! The store of the tokens of persons.

use std::fmt;
use std::time::Duration;

use futures::future::LocalBoxFuture;

/// Stores what must outlive a request: the tokens of persons, and the client ids that authorization servers issue.
///
/// The keys are digests, and the values are encrypted. The store must be consistent: after [`replace`](Self::replace) has returned `true`,
/// each [`get`](Self::get) anywhere returns the new value, and of two calls with the same `current` only one succeeds. Otherwise two
/// requests can use one refresh token, and many authorization servers then revoke the access of the person. So a store in Workers KV, which
/// has no conditional write and reads old values for up to a minute, is not possible.
///
/// [`SqliteTokens`](super::SqliteTokens) is a store in D1.
pub trait TokenStore {
    /// Returns the value of `key`, if there is one.
    ///
    /// # Errors
    /// The store cannot be read.
    fn get<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<Option<String>, TokenStoreError>>;

    /// Sets the value of `key`, if its value is still `current`. With `None`, there must be no value. Returns whether the value was set. The
    /// store may remove the value after the time `keep`.
    ///
    /// # Errors
    /// The store cannot be written.
    fn replace<'a>(
        &'a self,
        key: &'a str,
        current: Option<&'a str>,
        new: &'a str,
        keep: Duration,
    ) -> LocalBoxFuture<'a, Result<bool, TokenStoreError>>;

    /// Removes the value of `key`, whatever it is.
    ///
    /// # Errors
    /// The store cannot be written.
    fn remove<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<(), TokenStoreError>>;
}

/// The error of a [`TokenStore`]. The text is for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenStoreError(String);

impl TokenStoreError {
    /// Creates an error. It must not contain a value of the store.
    pub fn new(cause: impl Into<String>) -> Self {
        Self(cause.into())
    }
}

impl fmt::Display for TokenStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TokenStoreError {}
