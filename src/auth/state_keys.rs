//! The keys that encrypt request states. A client gets a request state in one round of a call, and sends it back in the next round.

use std::time::Duration;

use super::encryption_keys::{EncryptionKeys, NONCE};
use crate::config::{ConfigError, Variables};
use crate::limits::STATE_SECONDS;

/// The keys that encrypt request states. The first key encrypts, and every key can decrypt, so that keys can be rotated.
#[derive(Clone)]
#[must_use]
pub struct StateKeys {
    keys: EncryptionKeys,
    lifetime: Duration,
}

/// The purpose for which the keys encrypt rows of durable tasks.
const ROWS: &str = "edge-mcp task row, encrypted";

/// The purpose for which the keys encrypt the ids of tasks of mounted servers.
const PASSED_TASKS: &str = "edge-mcp passed task id, encrypted";

/// The purpose for which the keys encrypt request states.
const PURPOSE: &str = "edge-mcp request state, encrypted";

impl StateKeys {
    /// Parses the variable `MCP_STATE_KEY`.
    ///
    /// # Errors
    /// A variable is missing or wrong.
    pub(crate) fn of_variables(variables: &Variables<'_>) -> Result<Self, ConfigError> {
        const NAME: &str = "MCP_STATE_KEY";
        let keys = variables.get(NAME).and_then(|keys| Self::from_text(NAME, keys.as_deref()));
        keys.map_err(|error| variables.about_secret(error))
    }

    /// Parses one key, or several separated by spaces, each of at least 32 bytes. Errors name `variable` as the source of the text.
    ///
    /// # Errors
    /// The text is missing or has a key that is too short.
    ///
    /// ```
    /// use edge_mcp::auth::StateKeys;
    ///
    /// assert!(StateKeys::from_text("MCP_STATE_KEY", Some("0123456789abcdef0123456789abcdef")).is_ok());
    /// assert!(StateKeys::from_text("MCP_STATE_KEY", Some("short")).is_err());
    /// ```
    pub fn from_text(variable: &'static str, text: Option<&str>) -> Result<Self, ConfigError> {
        let missing = "is not set: calls that ask for input need a key of at least 32 bytes to encrypt their state";
        let keys = EncryptionKeys::parse(variable, text, missing)?;
        Ok(Self { keys, lifetime: Duration::from_secs(STATE_SECONDS) })
    }

    /// Sets the lifetime of a state: 600 s by default.
    pub fn lifetime(mut self, time: Duration) -> Self {
        self.lifetime = time;
        self
    }

    pub(crate) fn seconds(&self) -> u64 {
        self.lifetime.as_secs()
    }

    /// Returns the MAC of `message` with each of the keys, for a purpose. The MAC with the first key is the first.
    pub(crate) fn macs(&self, purpose: &str, message: &[u8]) -> Vec<[u8; 32]> {
        self.keys.macs(purpose, message)
    }

    /// Encrypts a row of a durable task. `about` is its position, which [`open_row`](Self::open_row) needs.
    pub(crate) fn seal_row(&self, about: &str, nonce: [u8; NONCE], row: &[u8]) -> Option<Vec<u8>> {
        self.keys.encrypt(ROWS, about, nonce, row)
    }

    /// Decrypts a row that one of the keys has [encrypted](Self::seal_row).
    pub(crate) fn open_row(&self, about: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        self.keys.decrypt(ROWS, about, sealed)
    }

    /// Encrypts the identity of a task of a mounted server. `about` is the owner, which [`open_task`](Self::open_task) needs.
    pub(crate) fn seal_task(&self, about: &str, nonce: [u8; NONCE], task: &[u8]) -> Option<Vec<u8>> {
        self.keys.encrypt(PASSED_TASKS, about, nonce, task)
    }

    /// Decrypts an identity that one of the keys has [encrypted](Self::seal_task).
    pub(crate) fn open_task(&self, about: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        self.keys.decrypt(PASSED_TASKS, about, sealed)
    }

    /// Encrypts `message` with the first key. The result contains `nonce`. A nonce must never be used twice.
    pub(crate) fn encrypt(&self, nonce: [u8; NONCE], message: &[u8]) -> Option<Vec<u8>> {
        self.keys.encrypt(PURPOSE, "", nonce, message)
    }

    /// Decrypts a message that one of the keys has [encrypted](Self::encrypt).
    pub(crate) fn decrypt(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        self.keys.decrypt(PURPOSE, "", sealed)
    }
}
