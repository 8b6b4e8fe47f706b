//! An issuer of tokens for tests.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::clock::START_MS;
use crate::base64::URL_SAFE;
use crate::host::PublicKey;

/// The first half of each key, by which a host knows the keys of these issuers.
const MARK: &[u8; 16] = b"edge-mcp/testing";
/// The time for which a token is valid, in seconds from the first time of the clock.
const LIFETIME: u64 = 3600;

/// An issuer of signed tokens (JWT) for tests: it has a key, and signs tokens with the claims of the test.
///
/// A [`TestHost`](super::TestHost) with the [issuer](super::TestHost::issuer) serves its keys and checks its signatures, as the host of a Worker does.
/// Everybody can compute the signatures, so they prove nothing outside of tests.
///
/// ```
/// use edge_mcp::testing::{self, Client, TestHost, TestIssuer};
/// use edge_mcp::{Context, Endpoint, HandlerError, McpServer, Tool};
/// use serde_json::json;
///
/// async fn whoami(cx: Context) -> Result<String, HandlerError> {
///     Ok(cx.caller()?.subject.clone())
/// }
///
/// let issuer = TestIssuer::new("https://auth.example.com");
/// let variables = testing::variables(&[
///     ("MCP_AUTH", "jwt"),
///     ("MCP_ISSUER", "https://auth.example.com"),
///     ("MCP_JWKS_URL", &issuer.keys_url()),
///     ("MCP_RESOURCE", "https://kb.example.com/mcp"),
/// ]);
/// let whoami = || Tool::new("whoami", "Names the caller.", whoami);
/// let endpoint = Endpoint::new(move |_| McpServer::builder("kb", "1.0.0").tool(whoami()).build()).configured(&variables);
/// let host = TestHost::new().issuer(&issuer);
/// let call = |claims| {
///     let client = Client::new(&endpoint).host(&host).token(&issuer.token(&claims));
///     testing::run(async { client.call("whoami", json!({})).await })
/// };
/// assert_eq!(call(json!({ "sub": "ada", "aud": "https://kb.example.com/mcp" })).text(), "ada");
/// assert_eq!(call(json!({ "sub": "ada", "aud": "https://other.example.com" })).status(), 401);
/// assert_eq!(call(json!({ "sub": "ada", "aud": "https://kb.example.com/mcp", "exp": 1 })).status(), 401);
/// ```
#[derive(Clone, Debug)]
pub struct TestIssuer {
    issuer: String,
    key: [u8; 32],
}

impl TestIssuer {
    /// Creates the issuer with this URL, which is the `iss` of its tokens.
    pub fn new(issuer: impl Into<String>) -> Self {
        let issuer = issuer.into();
        let mut key = [0; 32];
        let digest = Sha256::digest(&issuer);
        for (byte, value) in key.iter_mut().zip(MARK.iter().chain(&digest)) {
            *byte = *value;
        }
        Self { issuer, key }
    }

    /// Returns the URL of the keys: `/jwks` below that of the issuer.
    pub fn keys_url(&self) -> String {
        format!("{}/jwks", self.issuer.trim_end_matches('/'))
    }

    /// Returns the keys (JWKS) as JSON.
    pub fn keys(&self) -> String {
        json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": "test", "x": URL_SAFE.encode(self.key) }] })
            .to_string()
    }

    /// Signs a token. `claims` is an object. The issuer adds `iss`, and an `exp` of an hour after the first time of the clock, unless they are given.
    pub fn token(&self, claims: &Value) -> String {
        let mut all = Map::new();
        all.insert("iss".to_owned(), self.issuer.as_str().into());
        all.insert("exp".to_owned(), (START_MS / 1000).saturating_add(LIFETIME).into());
        all.extend(claims.as_object().cloned().unwrap_or_default());
        let header = json!({ "alg": "EdDSA", "typ": "at+jwt", "kid": "test" });
        let [header, claims] = [header, all.into()].map(|part| URL_SAFE.encode(part.to_string()));
        let message = format!("{header}.{claims}");
        format!("{message}.{}", URL_SAFE.encode(signature(&self.key, message.as_bytes())))
    }
}

/// Returns whether the signature is that of an issuer with this key. Returns `None` for a key of somebody else.
pub(super) fn verify(key: &PublicKey, message: &[u8], signed: &[u8]) -> Option<bool> {
    match key {
        PublicKey::EdDsa { x } if x.starts_with(MARK) => Some(signature(x, message) == signed),
        _ => None,
    }
}

/// Returns a digest with the length of a signature. A real signature would need a package that not all programs with tests have.
fn signature(key: &[u8; 32], message: &[u8]) -> Vec<u8> {
    let half = |part: &[u8]| Sha256::new().chain_update(key).chain_update(part).chain_update(message).finalize();
    [half(b"r"), half(b"s")].concat()
}
