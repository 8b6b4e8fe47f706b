//! Keys that encrypt values of this program that others keep for it: clients, browsers and databases.

use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::{Aead, Payload};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::config::ConfigError;

/// The minimum length of a key in bytes. A short key can be found by brute force.
const MIN_BYTES: usize = 32;

/// The length of a nonce in bytes.
pub(crate) const NONCE: usize = 12;

/// The keys. The first key encrypts, and every key can decrypt, so that keys can be rotated.
#[derive(Clone)]
pub(crate) struct EncryptionKeys(Vec<Vec<u8>>);

impl EncryptionKeys {
    /// Parses one key, or several separated by spaces. `missing` is the problem with a text without keys.
    ///
    /// # Errors
    /// The text is missing or has a key that is too short.
    pub(crate) fn parse(variable: &'static str, text: Option<&str>, missing: &str) -> Result<Self, ConfigError> {
        let mut keys = Vec::new();
        for key in text.unwrap_or_default().split_whitespace() {
            keys.push(key.as_bytes().to_vec());
        }
        if keys.is_empty() {
            return Err(ConfigError::new(variable, missing));
        }
        if keys.iter().any(|key| key.len() < MIN_BYTES) {
            return Err(ConfigError::new(variable, "has a key of fewer than 32 bytes"));
        }
        Ok(Self(keys))
    }

    /// Encrypts `message` with the first key, for a purpose. Only the same purpose and `about` can decrypt it. The result contains `nonce`. A
    /// nonce must never be used twice.
    pub(crate) fn encrypt(&self, purpose: &str, about: &str, nonce: [u8; NONCE], message: &[u8]) -> Option<Vec<u8>> {
        let payload = Payload { msg: message, aad: about.as_bytes() };
        let sealed = cipher(self.0.first()?, purpose)?.encrypt(&nonce.into(), payload).ok()?;
        Some([nonce.as_slice(), &sealed].concat())
    }

    /// Returns the MAC of `message` with each of the keys, for a purpose.
    pub(crate) fn macs(&self, purpose: &str, message: &[u8]) -> Vec<[u8; 32]> {
        self.0.iter().filter_map(|key| mac(&mac(key, purpose.as_bytes())?, message)).collect()
    }

    /// Decrypts a message that one of the keys has [encrypted](Self::encrypt).
    pub(crate) fn decrypt(&self, purpose: &str, about: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        self.decrypt_with(purpose, about, sealed).map(|(_, message)| message)
    }

    /// Decrypts a message, and returns the position of its key.
    pub(crate) fn decrypt_with(&self, purpose: &str, about: &str, sealed: &[u8]) -> Option<(usize, Vec<u8>)> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>()?;
        let decrypt = |key| {
            let payload = Payload { msg: sealed, aad: about.as_bytes() };
            cipher(key, purpose)?.decrypt(&(*nonce).into(), payload).ok()
        };
        self.0.iter().enumerate().find_map(|(position, key)| Some((position, decrypt(key)?)))
    }
}

/// Returns a cipher whose key is derived from `key`, which may have any length.
fn cipher(key: &[u8], purpose: &str) -> Option<ChaCha20Poly1305> {
    ChaCha20Poly1305::new_from_slice(&mac(key, purpose.as_bytes())?).ok()
}

fn mac(key: &[u8], message: &[u8]) -> Option<[u8; 32]> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    mac.update(message);
    Some(mac.finalize().into_bytes().into())
}
