//! The stores of the tokens of persons.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::future::ready;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::storage::{Database, DatabaseError, Rows};

/// Stores what must outlive a request: the tokens of persons, and the client ids that authorization servers issue.
///
/// The keys are digests, and the values are encrypted. The store must be consistent: after [`replace`](Self::replace) has returned `true`,
/// each [`get`](Self::get) anywhere returns the new value, and of two calls with the same `current` only one succeeds. Otherwise two
/// requests can use one refresh token, and many authorization servers then revoke the access of the person. So a store in Workers KV, which
/// has no conditional write and reads old values for up to a minute, is not possible.
///
/// [`SqliteTokens`] is a store in D1.
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

/// Returns the SQL that creates the table `oauth_tokens` of [`SqliteTokens`], for a migration of the program.
///
/// A test of the program can compare its migration with this text:
///
/// ```
/// assert!(edge_mcp::client::token_migration().contains("CREATE TABLE oauth_tokens ("));
/// ```
pub fn token_migration() -> &'static str {
    include_str!("migrations/0001_tokens.sql")
}

/// A store of tokens in a database with SQLite, such as D1.
///
/// The store does not create its table. [`token_migration`] returns the SQL. The table has digests and encrypted values, and no index on a
/// person. Rows that have expired are removed when another row is written.
///
/// ```
/// use edge_mcp::client::{SignIn, SqliteTokens, TokenKeys};
/// use edge_mcp::storage::Database;
/// use edge_mcp::{ConfigError, Variables};
///
/// fn sign_in(database: &Database, variables: &Variables) -> Result<SignIn, ConfigError> {
///     let tokens = SqliteTokens::new(database.clone());
///     SignIn::new("Desk", "https://desk.example.com/sign-in", TokenKeys::of(variables)?, tokens)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct SqliteTokens(Database);

impl SqliteTokens {
    /// Creates a store in `database`.
    pub fn new(database: Database) -> Self {
        Self(database)
    }
}

impl TokenStore for SqliteTokens {
    fn get<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<Option<String>, TokenStoreError>> {
        let select = self.0.query("SELECT value FROM oauth_tokens WHERE key = ?1").bind(key);
        async { select.first().await.map_err(failed) }.boxed_local()
    }

    fn replace<'a>(
        &'a self,
        key: &'a str,
        current: Option<&'a str>,
        new: &'a str,
        keep: Duration,
    ) -> LocalBoxFuture<'a, Result<bool, TokenStoreError>> {
        let keep = i64::try_from(keep.as_secs()).unwrap_or(i64::MAX);
        let written = |sql: &'static str| self.0.query(sql).bind(key).bind(new).bind(keep);
        let write = match current {
            Some(current) => {
                written("UPDATE oauth_tokens SET value = ?2, until = unixepoch() + ?3 WHERE key = ?1 AND value = ?4")
                    .bind(current)
            }
            None => written(
                "INSERT INTO oauth_tokens (key, value, until) VALUES (?1, ?2, unixepoch() + ?3) ON CONFLICT (key) DO NOTHING",
            ),
        };
        let expired = self.0.query("DELETE FROM oauth_tokens WHERE until < unixepoch()");
        let changed = async move {
            let results = self.0.batch([expired, write]).await.map_err(failed)?;
            let changes = results.last().map_or(Ok(0), Rows::changes).map_err(failed)?;
            Ok(changes > 0)
        };
        changed.boxed_local()
    }

    fn remove<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<(), TokenStoreError>> {
        let delete = self.0.query("DELETE FROM oauth_tokens WHERE key = ?1").bind(key);
        async { delete.run().await.map(drop).map_err(failed) }.boxed_local()
    }
}

fn failed(error: DatabaseError) -> TokenStoreError {
    TokenStoreError::new(error.to_string())
}
