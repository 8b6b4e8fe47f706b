//! The rows of a task. Everything that belongs to the caller is encrypted. Long values take several rows.

use std::rc::Rc;

use futures::future::LocalBoxFuture;

use super::stored::Stored;
use crate::auth::StateKeys;
use crate::auth::encryption_keys::NONCE;
use crate::config::ConfigError;
use crate::host::{Host, TaskRows};
use crate::limits::TASK_ROW_BYTES;

/// The rows of the object of a task.
pub(super) struct StoredRows {
    storage: Rc<dyn TaskRows>,
    /// The keys, or the error in their configuration. What is not encrypted can be used without keys.
    keys: Rc<Result<StateKeys, ConfigError>>,
    host: Rc<dyn Host>,
    /// The name of the object, to which encrypted values are bound.
    object: String,
}

impl StoredRows {
    pub(super) fn new(
        storage: Rc<dyn TaskRows>,
        keys: Rc<Result<StateKeys, ConfigError>>,
        host: Rc<dyn Host>,
        object: String,
    ) -> Self {
        Self { storage, keys, host, object }
    }

    /// Returns the bytes of a row that is not encrypted.
    pub(super) fn bytes(&self, key: &str) -> Result<Option<Vec<u8>>, String> {
        self.storage.get(key)
    }

    /// Reads a row that operators can read.
    pub(super) fn read<T: Stored>(&self, key: &str) -> Result<Option<T>, String> {
        self.storage.get(key)?.map(|value| parse(key, &value)).transpose()
    }

    /// Writes a row that operators can read. Of the caller's data, only names of steps that the program makes from it can be in it.
    pub(super) fn write(&self, key: &str, value: &impl Stored) -> Result<(), String> {
        self.storage.put(key, value.json().as_bytes())
    }

    /// Returns the rows that operators can read whose keys begin with `prefix`.
    pub(super) fn list<T: Stored>(&self, prefix: &str) -> Result<Vec<(String, T)>, String> {
        let rows = self.list_bytes(prefix)?.into_iter();
        rows.map(|(key, value)| parse(&key, &value).map(|value| (key, value))).collect()
    }

    /// Returns the bytes of the rows that are not encrypted and whose keys begin with `prefix`.
    pub(super) fn list_bytes(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, String> {
        self.storage.list(prefix)
    }

    /// Reads an encrypted value.
    pub(super) fn open<T: Stored>(&self, key: &str) -> Result<Option<T>, String> {
        let Some(first) = self.storage.get(&part(key, 0))? else { return Ok(None) };
        self.open_parts(key, first).map(Some)
    }

    /// Reads the encrypted values whose keys begin with `prefix`, in the order of their keys.
    pub(super) fn open_list<T: Stored>(&self, prefix: &str) -> Result<Vec<(String, T)>, String> {
        let mut opened = Vec::new();
        for (row, first) in self.storage.list(prefix)? {
            if let Some(key) = row.strip_suffix("#0") {
                opened.push((key.to_owned(), self.open_parts(key, first)?));
            }
        }
        Ok(opened)
    }

    /// Reads an encrypted value whose first part is `first`.
    fn open_parts<T: Stored>(&self, key: &str, first: Vec<u8>) -> Result<T, String> {
        let keys = (*self.keys).as_ref().map_err(ToString::to_string)?;
        let mut sealed = first;
        if sealed.is_empty() {
            return Err(format!("the row `{key}` is empty"));
        }
        let parts = sealed.remove(0);
        for nth in 1..parts {
            let more = self.storage.get(&part(key, nth))?;
            sealed.extend(more.ok_or_else(|| format!("a part of the row `{key}` is missing"))?);
        }
        let opened = keys.open_row(&self.about(key), &sealed);
        // A long value is not needed twice.
        drop(sealed);
        parse(key, &opened.ok_or_else(|| format!("the row `{key}` cannot be decrypted: MCP_STATE_KEY has changed"))?)
    }

    /// Writes an encrypted value.
    pub(super) fn seal(&self, key: &str, value: &impl Stored) -> Result<(), String> {
        let keys = (*self.keys).as_ref().map_err(ToString::to_string)?;
        let mut nonce = [0; NONCE];
        self.host.fill_random(&mut nonce).map_err(|error| error.to_string())?;
        let sealed = keys.seal_row(&self.about(key), nonce, value.json().as_bytes());
        let sealed = sealed.ok_or("a row cannot be encrypted")?;
        let parts: Vec<_> = sealed.chunks(TASK_ROW_BYTES).collect();
        let count = u8::try_from(parts.len()).map_err(|_| format!("the row `{key}` is too long"))?;
        for (nth, bytes) in (0..count).zip(&parts) {
            let head: &[u8] = if nth == 0 { &[count] } else { &[] };
            self.storage.put(&part(key, nth), &[head, bytes].concat())?;
        }
        Ok(())
    }

    pub(super) fn delete(&self, key: &str) -> Result<(), String> {
        self.storage.delete(key)
    }

    pub(super) fn clear(&self) -> Result<(), String> {
        self.storage.clear()
    }

    pub(super) fn set_alarm(&self, at_ms: u64) -> Result<(), String> {
        self.storage.set_alarm(at_ms)
    }

    /// Completes when all changes so far are stored.
    pub(super) fn sync(&self) -> LocalBoxFuture<'static, Result<(), String>> {
        self.storage.sync()
    }

    fn about(&self, key: &str) -> String {
        format!("{} {key}", self.object)
    }
}

/// Returns the key of a part of an encrypted value.
fn part(key: &str, nth: u8) -> String {
    format!("{key}#{nth}")
}

fn parse<T: Stored>(key: &str, json: &[u8]) -> Result<T, String> {
    T::parse(json).ok_or_else(|| format!("the row `{key}` does not have the format of this version"))
}
