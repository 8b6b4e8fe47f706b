//! The keys that sign and encrypt request states, which a client carries from one round of a call to the next.

use std::time::Duration;

use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::Aead;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::config::ConfigError;
use crate::limits::STATE_SECONDS;

/// The keys that sign and encrypt request states. The first key signs and encrypts; all keys verify and decrypt, so that keys can be
/// rotated.
#[derive(Clone)]
pub struct StateKeys {
    keys: Vec<Vec<u8>>,
    lifetime: Duration,
}

/// The minimum length of a key in bytes. A shorter key could be found by trying all of them.
const MIN_BYTES: usize = 32;

impl StateKeys {
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
        let keys: Vec<_> = text.unwrap_or_default().split_whitespace().map(|key| key.as_bytes().to_vec()).collect();
        if keys.is_empty() {
            let problem = "is not set: calls that ask for input need a key of at least 32 bytes to sign their state";
            return Err(ConfigError::new(variable, problem));
        }
        if keys.iter().any(|key| key.len() < MIN_BYTES) {
            return Err(ConfigError::new(variable, "has a key of fewer than 32 bytes"));
        }
        Ok(Self { keys, lifetime: Duration::from_secs(STATE_SECONDS) })
    }

    /// Sets how long a state is valid: ten minutes by default.
    #[must_use]
    pub fn lifetime(mut self, time: Duration) -> Self {
        self.lifetime = time;
        self
    }

    pub(crate) fn seconds(&self) -> u64 {
        self.lifetime.as_secs()
    }

    /// Returns the signature of `message` by the first key.
    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        let signed = self.keys.first().and_then(|key| mac(key, message));
        signed.map(|mac| mac.finalize().into_bytes().to_vec()).unwrap_or_default()
    }

    /// Returns whether `signature` is the signature of `message` by one of the keys. It compares in constant time.
    pub(crate) fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        self.keys.iter().any(|key| mac(key, message).is_some_and(|mac| mac.verify_slice(signature).is_ok()))
    }

    /// Encrypts `message` with the first key. The same `nonce` must never be used twice. The result contains it.
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

/// Returns a cipher whose key is derived from `key`, because a key that signs should not also encrypt.
fn cipher(key: &[u8]) -> Option<ChaCha20Poly1305> {
    let derived = mac(key, b"edge-mcp request state, encrypted")?.finalize().into_bytes();
    ChaCha20Poly1305::new_from_slice(&derived).ok()
}

fn mac(key: &[u8], message: &[u8]) -> Option<Hmac<Sha256>> {
    // HMAC accepts keys of any length.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    mac.update(message);
    Some(mac)
}
