//! The assertion with which a client proves that it has a private key.
//!
//! Source: RFC 7523 §2.2 and §3; RFC 7515 §3.1; RFC 5958 and RFC 7468 §10 for the format of the key.

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::json;

use super::client_authentication::Assertion;
use super::jwks::Algorithm;
use crate::base64::{STANDARD, URL_SAFE};
use crate::config::ConfigError;
use crate::host::{CannotSign, Host, PrivateKey};

/// The lifetime of an assertion in seconds. It is long enough for clocks that differ a little.
const LIFETIME: u64 = 60;

/// A private key with which a client authenticates to an authorization server (`private_key_jwt`).
///
/// ```
/// use edge_mcp::auth::Algorithm;
/// use edge_mcp::client::SigningKey;
///
/// let problem = SigningKey::from_pem(Algorithm::Es256, "not a key").err().expect("it is rejected");
/// assert!(problem.to_string().contains("-----BEGIN PRIVATE KEY-----"));
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct SigningKey {
    algorithm: Algorithm,
    key: PrivateKey,
    id: Option<String>,
}

impl SigningKey {
    /// Reads a private key in the format PKCS #8, in PEM form. The authorization server has its public key.
    ///
    /// # Errors
    /// `pem` has another form. A key for another algorithm fails when it is used.
    pub fn from_pem(algorithm: Algorithm, pem: &str) -> Result<Self, ConfigError> {
        let problem = "must be a PKCS #8 key in PEM form, which begins with -----BEGIN PRIVATE KEY-----";
        let pkcs8 = of_pem(pem).ok_or_else(|| ConfigError::new("the private key of the client", problem))?;
        let key = match algorithm {
            Algorithm::Rs256 => PrivateKey::Rs256(pkcs8),
            Algorithm::Es256 => PrivateKey::Es256(pkcs8),
            Algorithm::EdDsa => PrivateKey::EdDsa(pkcs8),
        };
        Ok(Self { algorithm, key, id: None })
    }

    /// Sets the id of the key (`kid`). Some authorization servers need it to find the public key.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }
}

/// A client id with the key that signs the assertions of this client.
pub(crate) struct SignedAssertion {
    client_id: String,
    key: SigningKey,
}

impl SignedAssertion {
    pub(crate) fn new(client_id: &str, key: SigningKey) -> Self {
        Self { client_id: client_id.to_owned(), key }
    }

    /// Returns the signed part of an assertion for `audience`: its header and its claims.
    fn message(&self, audience: &str, host: &dyn Host) -> Result<String, CannotSign> {
        let mut id = [0_u8; 16];
        host.fill_random(&mut id).map_err(|error| CannotSign(error.to_string()))?;
        let now = host.now_ms() / 1000;
        let mut header = json!({ "alg": self.key.algorithm.name(), "typ": "JWT" });
        if let (Some(id), Some(header)) = (&self.key.id, header.as_object_mut()) {
            header.insert("kid".to_owned(), id.as_str().into());
        }
        let claims = json!({
            "iss": self.client_id,
            "sub": self.client_id,
            "aud": audience,
            "iat": now,
            "exp": now.saturating_add(LIFETIME),
            "jti": URL_SAFE.encode(id),
        });
        Ok(format!("{}.{}", URL_SAFE.encode(header.to_string()), URL_SAFE.encode(claims.to_string())))
    }
}

impl Assertion for SignedAssertion {
    fn client_id(&self) -> &str {
        &self.client_id
    }

    fn sign<'a>(&'a self, audience: &'a str, host: &'a dyn Host) -> LocalBoxFuture<'a, Result<String, CannotSign>> {
        let signed = async move {
            let message = self.message(audience, host)?;
            let signature = host.sign(self.key.key.clone(), message.clone().into_bytes()).await?;
            Ok(format!("{message}.{}", URL_SAFE.encode(signature)))
        };
        signed.boxed_local()
    }
}

/// Returns the DER bytes of the private key in a PEM text.
fn of_pem(pem: &str) -> Option<Vec<u8>> {
    let (_, rest) = pem.split_once("-----BEGIN PRIVATE KEY-----")?;
    let (text, _) = rest.split_once("-----END PRIVATE KEY-----")?;
    let digits: String = text.split_ascii_whitespace().collect();
    STANDARD.decode(&digits).filter(|key| !key.is_empty())
}
