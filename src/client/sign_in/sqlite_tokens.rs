//! Tokens in a database with SQLite, such as D1.

use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::token_store::{TokenStore, TokenStoreError};
use crate::storage::{Database, DatabaseError, Rows};

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
