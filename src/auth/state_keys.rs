//! Keys that sign what a client carries from one round of a call to the next.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::config::ConfigError;

/// Keys that sign request states. The first signs; all of them verify, so that keys can be changed one after the other.
#[derive(Clone)]
pub struct StateKeys(Vec<Vec<u8>>);

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
                "is not set: it is the key that signs the state of calls which ask for input, at least 32 bytes";
            return Err(ConfigError::new(variable, problem));
        }
        if keys.iter().any(|key| key.len() < SHORTEST) {
            return Err(ConfigError::new(variable, "has a key of less than 32 bytes"));
        }
        Ok(Self(keys))
    }

    /// The signature of `message` by the first key.
    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        let signed = self.0.first().and_then(|key| mac(key, message));
        signed.map(|mac| mac.finalize().into_bytes().to_vec()).unwrap_or_default()
    }

    /// Whether `signature` is that of `message` by one of the keys. Compares in constant time.
    pub(crate) fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        self.0.iter().any(|key| mac(key, message).is_some_and(|mac| mac.verify_slice(signature).is_ok()))
    }
}

fn mac(key: &[u8], message: &[u8]) -> Option<Hmac<Sha256>> {
    // HMAC takes keys of any length.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    mac.update(message);
    Some(mac)
}
