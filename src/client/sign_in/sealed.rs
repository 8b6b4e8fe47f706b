//! The encryption of tokens, of the state of a sign-in, and of the links to it.

use edge_json::deserialize::read_text;
use edge_json::write;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::auth::encryption_keys::{EncryptionKeys, NONCE};
use crate::base64::URL_SAFE;
use crate::client::oauth::error::OAuthError;
use crate::config::{ConfigError, Variables};
use crate::host::Host;

/// The keys that encrypt the tokens of persons. The first key encrypts, and every key can decrypt, so that keys can be rotated.
#[derive(Clone)]
pub struct TokenKeys(EncryptionKeys);

/// The purpose of an encrypted value. A value for one purpose cannot be read for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SealPurpose {
    /// The tokens of a person.
    Tokens,
    /// The client id that an authorization server issued.
    Client,
    /// The state of a sign-in, in a cookie.
    Pending,
    /// The link to a sign-in.
    Ticket,
    /// The mark of a sign-in that has ended.
    Finished,
}

impl SealPurpose {
    fn name(self) -> &'static str {
        match self {
            Self::Tokens => "edge-mcp sign-in, tokens",
            Self::Client => "edge-mcp sign-in, client",
            Self::Pending => "edge-mcp sign-in, pending",
            Self::Ticket => "edge-mcp sign-in, ticket",
            Self::Finished => "edge-mcp sign-in, finished",
        }
    }

    /// Returns a key of the store for the thing that `parts` identify.
    pub(super) fn key(self, parts: &[&str]) -> String {
        let mut digest = Sha256::new();
        for part in [&[self.name()], parts].concat() {
            digest.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_le_bytes());
            digest.update(part);
        }
        URL_SAFE.encode(digest.finalize())
    }
}

impl TokenKeys {
    /// Reads the secret `MCP_TOKEN_KEY`: one key, or several separated by spaces, each of at least 32 bytes.
    ///
    /// # Errors
    /// The secret is not set, or a key is too short.
    pub fn of(variables: &Variables<'_>) -> Result<Self, ConfigError> {
        const NAME: &str = "MCP_TOKEN_KEY";
        let keys = variables.get(NAME)?;
        Self::from_text(NAME, keys.as_deref()).map_err(|error| variables.about_secret(error))
    }

    /// Parses one key, or several separated by spaces, each of at least 32 bytes. Errors name `variable` as the source of the text.
    ///
    /// # Errors
    /// The text is missing or has a key that is too short.
    ///
    /// ```
    /// use edge_mcp::client::TokenKeys;
    ///
    /// assert!(TokenKeys::from_text("MCP_TOKEN_KEY", Some("0123456789abcdef0123456789abcdef")).is_ok());
    /// assert!(TokenKeys::from_text("MCP_TOKEN_KEY", Some("short")).is_err());
    /// ```
    pub fn from_text(variable: &'static str, text: Option<&str>) -> Result<Self, ConfigError> {
        const MISSING: &str =
            "is not set: the sign-in to other servers needs a key of at least 32 bytes to encrypt the tokens";
        EncryptionKeys::parse(variable, text, MISSING).map(Self)
    }

    /// Encrypts `value`, which belongs to `about`. The result is different each time.
    ///
    /// # Errors
    /// The host cannot generate random bytes.
    pub(super) fn seal(
        &self,
        purpose: SealPurpose,
        about: &str,
        value: &impl Serialize,
        host: &dyn Host,
    ) -> Result<String, OAuthError> {
        let text = write::to_string(value).map_err(|error| cannot_encrypt(&error.to_string()))?;
        let mut nonce = [0_u8; NONCE];
        host.fill_random(&mut nonce).map_err(|error| cannot_encrypt(&error.to_string()))?;
        let sealed = self.0.encrypt(purpose.name(), about, nonce, text.as_bytes());
        sealed.map(|bytes| URL_SAFE.encode(bytes)).ok_or_else(|| cannot_encrypt("the value cannot be encrypted"))
    }

    /// Decrypts a value. Returns `None` if none of the keys has encrypted it for this purpose and `about`.
    pub(super) fn open<T: DeserializeOwned>(&self, purpose: SealPurpose, about: &str, sealed: &str) -> Option<T> {
        self.open_with(purpose, about, sealed).map(|(value, _)| value)
    }

    /// Decrypts a value as [`open`](Self::open) does, and returns whether an old key has encrypted it.
    pub(super) fn open_with<T: DeserializeOwned>(
        &self,
        purpose: SealPurpose,
        about: &str,
        sealed: &str,
    ) -> Option<(T, bool)> {
        let (position, text) = self.0.decrypt_with(purpose.name(), about, &URL_SAFE.decode(sealed)?)?;
        Some((read_text(&text)?, position > 0))
    }
}

fn cannot_encrypt(cause: &str) -> OAuthError {
    OAuthError::StoreFailed { cause: cause.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestHost;

    /// C86: a value is decrypted only for its purpose and for the thing that it belongs to.
    #[test]
    fn a_value_is_for_one_purpose() {
        let keys = TokenKeys::from_text("MCP_TOKEN_KEY", Some("0123456789abcdef0123456789abcdef")).expect("a key");
        let sealed = keys.seal(SealPurpose::Tokens, "a", &"text", &TestHost::new()).expect("an encrypted value");
        let open = |purpose, about| keys.open::<String>(purpose, about, &sealed);
        assert_eq!(open(SealPurpose::Tokens, "a").as_deref(), Some("text"));
        assert_eq!(open(SealPurpose::Tokens, "b"), None);
        for purpose in [SealPurpose::Client, SealPurpose::Pending, SealPurpose::Ticket, SealPurpose::Finished] {
            assert_eq!(open(purpose, "a"), None, "{purpose:?}");
        }
    }
}
