//! The rows of a task. Everything that belongs to the caller is encrypted. Long values take several rows.

use std::rc::Rc;

use edge_json::{Document, JsonLimits, Value, write};
use serde_json::value::RawValue;

use crate::auth::StateKeys;
use crate::auth::encryption_keys::NONCE;
use crate::host::{Host, TaskRows};
use crate::limits::TASK_ROW_BYTES;

/// A value that is stored as JSON.
pub(super) trait Row: Sized {
    fn json(&self) -> String;

    /// Reads a stored value. Returns `None` if it has another format.
    fn read(value: Value<'_>) -> Option<Self>;

    /// Reads a stored value from its JSON text.
    fn parse(json: &[u8]) -> Option<Self> {
        Self::read(Document::parse(json, JsonLimits::MOST).ok()?.root())
    }
}

impl Row for u64 {
    fn json(&self) -> String {
        self.to_string()
    }

    fn read(value: Value<'_>) -> Option<Self> {
        value.text().parse().ok()
    }
}

impl Row for bool {
    fn json(&self) -> String {
        self.to_string()
    }

    fn read(value: Value<'_>) -> Option<Self> {
        value.text().parse().ok()
    }
}

impl Row for Box<RawValue> {
    fn json(&self) -> String {
        self.get().to_owned()
    }

    fn read(value: Value<'_>) -> Option<Self> {
        value.to_raw()
    }
}

impl Row for String {
    fn json(&self) -> String {
        write::text(&self.as_str().into())
    }

    fn read(value: Value<'_>) -> Option<Self> {
        value.as_str().map(Into::into)
    }
}

/// The rows of the object of a task.
pub(super) struct Rows {
    storage: Rc<dyn TaskRows>,
    keys: StateKeys,
    host: Rc<dyn Host>,
    /// The name of the object, to which encrypted values are bound.
    object: String,
}

impl Rows {
    pub(super) fn new(storage: Rc<dyn TaskRows>, keys: StateKeys, host: Rc<dyn Host>, object: String) -> Self {
        Self { storage, keys, host, object }
    }

    /// Reads a row that operators can read.
    pub(super) fn read<T: Row>(&self, key: &str) -> Result<Option<T>, String> {
        self.storage.get(key)?.map(|value| parse(key, &value)).transpose()
    }

    /// Writes a row that operators can read. Of the caller's data, only names of steps that the program makes from it can be in it.
    pub(super) fn write(&self, key: &str, value: &impl Row) -> Result<(), String> {
        self.storage.put(key, value.json().as_bytes())
    }

    /// Returns the rows that operators can read whose keys begin with `prefix`.
    pub(super) fn list<T: Row>(&self, prefix: &str) -> Result<Vec<(String, T)>, String> {
        let rows = self.storage.list(prefix)?.into_iter();
        rows.map(|(key, value)| parse(&key, &value).map(|value| (key, value))).collect()
    }

    /// Reads an encrypted value.
    pub(super) fn open<T: Row>(&self, key: &str) -> Result<Option<T>, String> {
        self.open_text(key)?.map(|opened| parse(key, &opened)).transpose()
    }

    fn open_text(&self, key: &str) -> Result<Option<Vec<u8>>, String> {
        let mut sealed = Vec::new();
        let Some(first) = self.storage.get(&part(key, 0))? else { return Ok(None) };
        let Some((&parts, rest)) = first.split_first() else { return Err(format!("the row `{key}` is empty")) };
        sealed.extend_from_slice(rest);
        for nth in 1..parts {
            let more = self.storage.get(&part(key, nth))?;
            sealed.extend(more.ok_or_else(|| format!("a part of the row `{key}` is missing"))?);
        }
        let opened = self.keys.open_row(&self.about(key), &sealed);
        let opened = opened.ok_or_else(|| format!("the row `{key}` cannot be decrypted: MCP_STATE_KEY has changed"))?;
        Ok(Some(opened))
    }

    /// Writes an encrypted value.
    pub(super) fn seal(&self, key: &str, value: &impl Row) -> Result<(), String> {
        self.seal_text(key, &value.json())
    }

    fn seal_text(&self, key: &str, json: &str) -> Result<(), String> {
        let mut nonce = [0; NONCE];
        self.host.fill_random(&mut nonce).map_err(|error| error.to_string())?;
        let sealed = self.keys.seal_row(&self.about(key), nonce, json.as_bytes()).ok_or("a row cannot be encrypted")?;
        let parts: Vec<_> = sealed.chunks(TASK_ROW_BYTES).collect();
        let count = u8::try_from(parts.len()).map_err(|_| format!("the row `{key}` is too long"))?;
        for (nth, bytes) in (0..count).zip(&parts) {
            let head: &[u8] = if nth == 0 { &[count] } else { &[] };
            self.storage.put(&part(key, nth), &[head, bytes].concat())?;
        }
        Ok(())
    }

    /// Returns the keys of the encrypted values that begin with `prefix`.
    pub(super) fn sealed_keys(&self, prefix: &str) -> Result<Vec<String>, String> {
        let mut keys = Vec::new();
        for (key, _) in self.storage.list(prefix)? {
            keys.extend(key.strip_suffix("#0").map(str::to_owned));
        }
        Ok(keys)
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

    fn about(&self, key: &str) -> String {
        format!("{} {key}", self.object)
    }
}

/// Returns the key of a part of an encrypted value.
fn part(key: &str, nth: u8) -> String {
    format!("{key}#{nth}")
}

fn parse<T: Row>(key: &str, json: &[u8]) -> Result<T, String> {
    T::parse(json).ok_or_else(|| format!("the row `{key}` does not have the format of this version"))
}
