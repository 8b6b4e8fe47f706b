//! Keys that encrypt what a client carries from one round of a call to the next.

use std::time::Duration;

use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::Aead;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::config::ConfigError;
use crate::limits::STATE_SECONDS;

/// Keys that encrypt request states. The first encrypts, all of them decrypt, so that keys can be rotated.
#[derive(Clone)]
pub struct StateKeys {
    keys: Vec<Vec<u8>>,
    lifetime: Duration,
}

/// A shorter one could be guessed, or searched for.
const SHORTEST: usize = 32;

impl StateKeys {
    /// Reads one key, or several with spaces between them: each at least 32 bytes. `variable` is where the text came from;
    /// errors name it.
    ///
    /// # Errors
    /// No text, or a key that is too short.
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
            let problem =
                "is not set: it is the key that encrypts the state of calls that ask for input, at least 32 bytes";
            return Err(ConfigError::new(variable, problem));
        }
        if keys.iter().any(|key| key.len() < SHORTEST) {
            return Err(ConfigError::new(variable, "has a key of less than 32 bytes"));
        }
        Ok(Self { keys, lifetime: Duration::from_secs(STATE_SECONDS) })
    }

    /// How long a state is good: ten minutes unless set.
    #[must_use]
    pub fn lifetime(mut self, time: Duration) -> Self {
        self.lifetime = time;
        self
    }

    pub(crate) fn seconds(&self) -> u64 {
        self.lifetime.as_secs()
    }

    /// `message` so that only a holder of the first key can read it, together with `nonce`, which must never be used twice.
    pub(crate) fn encrypt(&self, nonce: [u8; NONCE], message: &[u8]) -> Option<Vec<u8>> {
        let cipher = cipher(self.keys.first()?)?;
        let sealed = cipher.encrypt(&nonce.into(), message).ok()?;
        Some([nonce.as_slice(), &sealed].concat())
    }

    /// The message that one of the keys has [encrypted](Self::encrypt).
    pub(crate) fn decrypt(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>()?;
        self.keys.iter().find_map(|key| cipher(key)?.decrypt(&(*nonce).into(), sealed).ok())
    }
}

/// Bytes of a nonce.
pub(crate) const NONCE: usize = 12;

/// The cipher of a key of its own, made from `key`: what signs should not also encrypt.
fn cipher(key: &[u8]) -> Option<ChaCha20Poly1305> {
    let derived = mac(key, b"edge-mcp request state, encrypted")?.finalize().into_bytes();
    ChaCha20Poly1305::new_from_slice(&derived).ok()
}

fn mac(key: &[u8], message: &[u8]) -> Option<Hmac<Sha256>> {
    // HMAC takes keys of any length.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    mac.update(message);
    Some(mac)
}
