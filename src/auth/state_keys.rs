//! The keys that encrypt request states. A client gets a request state in one round of a call, and sends it back in the next round.

use std::time::Duration;

use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::Aead;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::config::{ConfigError, Variables};
use crate::limits::STATE_SECONDS;

/// The keys that encrypt request states. The first key encrypts, and every key can decrypt, so that keys can be rotated.
#[derive(Clone)]
pub struct StateKeys {
    keys: Vec<Vec<u8>>,
    lifetime: Duration,
}

/// The minimum length of a key in bytes. A short key can be found by brute force.
const MIN_BYTES: usize = 32;

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
    /// use edge_mcp::StateKeys;
    ///
    /// assert!(StateKeys::from_text("MCP_STATE_KEY", Some("0123456789abcdef0123456789abcdef")).is_ok());
    /// assert!(StateKeys::from_text("MCP_STATE_KEY", Some("short")).is_err());
    /// ```
    pub fn from_text(variable: &'static str, text: Option<&str>) -> Result<Self, ConfigError> {
        let mut keys = Vec::new();
        for key in text.unwrap_or_default().split_whitespace() {
            keys.push(key.as_bytes().to_vec());
        }
        if keys.is_empty() {
            let problem = "is not set: calls that ask for input need a key of at least 32 bytes to encrypt their state";
            return Err(ConfigError::new(variable, problem));
        }
        if keys.iter().any(|key| key.len() < MIN_BYTES) {
            return Err(ConfigError::new(variable, "has a key of fewer than 32 bytes"));
        }
        Ok(Self { keys, lifetime: Duration::from_secs(STATE_SECONDS) })
    }

    /// Sets the lifetime of a state: 600 s by default.
    #[must_use]
    pub fn lifetime(mut self, time: Duration) -> Self {
        self.lifetime = time;
        self
    }

    pub(crate) fn seconds(&self) -> u64 {
        self.lifetime.as_secs()
    }

    /// Encrypts `message` with the first key. The result contains `nonce`. A nonce must never be used twice.
    pub(crate) fn encrypt(&self, nonce: [u8; NONCE], message: &[u8]) -> Option<Vec<u8>> {
        let cipher = cipher(self.keys.first()?)?;
        let sealed = cipher.encrypt(&nonce.into(), message).ok()?;
        Some([nonce.as_slice(), &sealed].concat())
    }

    /// Decrypts a message that one of the keys has [encrypted](Self::encrypt).
    pub(crate) fn decrypt(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>()?;
        self.keys.iter().find_map(|key| cipher(key)?.decrypt(&(*nonce).into(), sealed).ok())
    }
}

/// The length of a nonce in bytes.
pub(crate) const NONCE: usize = 12;

/// Returns a cipher whose key is derived from `key`, which may have any length.
fn cipher(key: &[u8]) -> Option<ChaCha20Poly1305> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    mac.update(b"edge-mcp request state, encrypted");
    ChaCha20Poly1305::new_from_slice(&mac.finalize().into_bytes()).ok()
}
