//! A store of keys and values.

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use edge_json::deserialize::read_text;
use edge_json::write;
use futures::future::LocalBoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::limits::{KV_EXPIRY_SECONDS, KV_KEY_BYTES, KV_PAGE, KV_VALUE_BYTES};

/// A store of keys and values: Workers KV in a Worker, and a map in tests. A clone is another handle of the same store.
///
/// `edge_mcp::worker::kv(env, "CACHE")` returns the store of a binding. `edge_mcp::testing::TestKv` has one for tests.
///
/// Workers KV is eventually consistent: for 60 s and longer, a reader elsewhere may get the previous value, or no value. Two writers may
/// overwrite each other, so a counter loses updates. Store data that must be correct in a [`Database`](super::Database).
///
/// ```
/// use std::time::Duration;
///
/// use edge_mcp::storage::{KvError, KvStore};
///
/// async fn greeting(cache: &KvStore, language: &str) -> Result<String, KvError> {
///     let key = format!("greeting/{language}");
///     if let Some(known) = cache.get(&key).await? {
///         return Ok(known);
///     }
///     let greeting = format!("Hello in {language}");
///     cache.put_for(&key, &greeting, Duration::from_secs(3600)).await?;
///     Ok(greeting)
/// }
/// ```
#[derive(Clone)]
pub struct KvStore {
    name: Rc<str>,
    engine: Rc<dyn KvEngine>,
}

/// The machine that stores the values of a [`KvStore`]. The store has checked the keys, the values and the times.
pub trait KvEngine {
    /// Returns the value of a key.
    fn get(&self, key: &str) -> LocalBoxFuture<'_, Result<Option<Vec<u8>>, KvError>>;

    /// Sets the value of a key, which expires after this number of seconds.
    fn put(&self, key: &str, value: &[u8], expires: Option<u64>) -> LocalBoxFuture<'_, Result<(), KvError>>;

    /// Deletes a key. A key that does not exist is not an error.
    fn delete(&self, key: &str) -> LocalBoxFuture<'_, Result<(), KvError>>;

    /// Returns a page of the keys, in the order of their bytes.
    fn list(&self, list: ListKeys) -> LocalBoxFuture<'_, Result<KvKeys, KvError>>;
}

/// A list of keys to request: a prefix, the number of keys, and the position after which the page begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListKeys {
    /// The beginning of the keys. Empty for all keys.
    pub prefix: String,
    /// The most keys of the page, from 1 to 1000. `None` is 1000.
    pub limit: Option<usize>,
    /// The cursor of the previous page. `None` for the first page.
    pub cursor: Option<String>,
}

/// A page of keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KvKeys {
    /// The keys.
    pub keys: Vec<KvKey>,
    /// The cursor of the next page. `None` if this page is the last one.
    pub cursor: Option<String>,
}

/// A key of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvKey {
    /// The key.
    pub name: String,
    /// The time when its value expires, in seconds since 1970.
    pub expires: Option<u64>,
}

/// The error of a [`KvStore`]. `?` converts it into a [`HandlerError`](crate::HandlerError): the caller gets a fixed sentence, and the text
/// goes to the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvError(String);

impl KvError {
    /// Creates an error. The cause is a sentence for the log.
    pub fn new(cause: impl Into<String>) -> Self {
        Self(cause.into())
    }
}

impl fmt::Display for KvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for KvError {}

impl KvStore {
    /// Creates a store. Messages name it by its binding, such as `CACHE`.
    pub fn new(name: &str, engine: impl KvEngine + 'static) -> Self {
        Self { name: name.into(), engine: Rc::new(engine) }
    }

    /// Returns the text of a key, or `None` if the key has no value.
    ///
    /// # Errors
    /// The store failed, the key is not valid, or the value is not UTF-8.
    pub async fn get(&self, key: &str) -> Result<Option<String>, KvError> {
        let value = self.get_bytes(key).await?.map(String::from_utf8).transpose();
        value.map_err(|_| self.error("a value is not UTF-8: read it with `get_bytes`"))
    }

    /// Returns the value of a key, or `None` if the key has none.
    ///
    /// # Errors
    /// The store failed, or the key is not valid.
    pub async fn get_bytes(&self, key: &str) -> Result<Option<Vec<u8>>, KvError> {
        self.check(key)?;
        self.engine.get(key).await
    }

    /// Reads the JSON text of a key, or returns `None` if the key has no value.
    ///
    /// # Errors
    /// The store failed, the key is not valid, or the value is not JSON of a `T`.
    pub async fn get_json<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, KvError> {
        let Some(value) = self.get_bytes(key).await? else { return Ok(None) };
        read_text(&value).map(Some).ok_or_else(|| self.error("a value is not JSON of the expected type"))
    }

    /// Sets the value of a key.
    ///
    /// # Errors
    /// The store failed, the key is not valid, or the value has more than 25 MiB.
    pub async fn put(&self, key: &str, value: impl AsRef<[u8]>) -> Result<(), KvError> {
        self.write(key, value.as_ref(), None).await
    }

    /// Sets the value of a key for a time of at least 60 s.
    ///
    /// # Errors
    /// See [`put`](Self::put). The time is shorter than 60 s.
    pub async fn put_for(&self, key: &str, value: impl AsRef<[u8]>, time: Duration) -> Result<(), KvError> {
        self.write(key, value.as_ref(), Some(time.as_secs())).await
    }

    /// Sets the value of a key to a JSON text.
    ///
    /// # Errors
    /// See [`put`](Self::put). The value does not serialize.
    pub async fn put_json(&self, key: &str, value: &impl Serialize) -> Result<(), KvError> {
        let json = write::to_vec(value).map_err(|error| self.error(&format!("a value does not serialize: {error}")))?;
        self.write(key, &json, None).await
    }

    /// Deletes a key. A key that does not exist is not an error.
    ///
    /// # Errors
    /// The store failed, or the key is not valid.
    pub async fn delete(&self, key: &str) -> Result<(), KvError> {
        self.check(key)?;
        self.engine.delete(key).await
    }

    /// Returns a page of the keys, in the order of their bytes.
    ///
    /// # Errors
    /// The store failed, or the limit is 0 or more than 1000.
    pub async fn list(&self, list: ListKeys) -> Result<KvKeys, KvError> {
        if list.limit.is_some_and(|limit| !(1..=KV_PAGE).contains(&limit)) {
            return Err(self.error(&format!("a page must have 1 to {KV_PAGE} keys")));
        }
        self.engine.list(list).await
    }

    async fn write(&self, key: &str, value: &[u8], expires: Option<u64>) -> Result<(), KvError> {
        self.check(key)?;
        if value.len() > KV_VALUE_BYTES {
            return Err(
                self.error(&format!("a value has {} bytes, and must have at most {KV_VALUE_BYTES}", value.len()))
            );
        }
        if expires.is_some_and(|seconds| seconds < KV_EXPIRY_SECONDS) {
            return Err(self.error(&format!("a value must not expire before {KV_EXPIRY_SECONDS} s have passed")));
        }
        self.engine.put(key, value, expires).await
    }

    fn check(&self, key: &str) -> Result<(), KvError> {
        if (1..=KV_KEY_BYTES).contains(&key.len()) && key != "." && key != ".." {
            return Ok(());
        }
        Err(self.error(&format!("a key must have 1 to {KV_KEY_BYTES} bytes, and must not be `.` or `..`")))
    }

    fn error(&self, problem: &str) -> KvError {
        KvError(format!("the store `{}`: {problem}", self.name))
    }
}

impl fmt::Debug for KvStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KvStore").field(&self.name).finish()
    }
}
