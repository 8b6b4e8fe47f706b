//! Access tokens that carry their own claims, signed by the authorization server.
//!
//! Source: RFC 9068; RFC 7515; RFC 8725, "JSON Web Token Best Current Practices".

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::claims::{self, Audience, Expected, invalid};
use super::config::ConfigError;
use super::jwks::{self, Algorithm};
use super::principal::Principal;
use super::secure_url::SecureUrl;
use super::validator::{Presented, TokenRefusal, TokenValidator};
use crate::host::PublicKey;

/// The media type of access tokens (RFC 9068 §2.1), by which they are told from other tokens of the same issuer.
const ACCESS_TOKEN: &str = "at+jwt";

/// Checks signed access tokens by the published keys of the one who issued them.
///
/// A token is good only if a key of the issuer has signed it by an algorithm that is allowed here, if it is an access token
/// (`"typ": "at+jwt"`), names the issuer and the URL of this server, and has an end that has not passed. The keys are fetched once
/// and kept for ten minutes. They are fetched again, at most once a minute, when a token names a key that is not among them, and when
/// none of them has signed a token that names no key. Where they cannot be fetched, the caller gets a 503, and they are fetched again
/// after five seconds at the earliest.
///
/// A signed token cannot be taken back before its end: where that matters, [`Introspection`](super::Introspection) is the validator
/// to choose.
///
/// ```
/// use edge_mcp::auth::{Algorithm, Jwt};
///
/// let validator = Jwt::new("https://auth.example.com/jwks", "https://auth.example.com")?.algorithms([Algorithm::Es256]);
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
pub struct Jwt {
    jwks: SecureUrl,
    algorithms: Vec<Algorithm>,
    types: Vec<String>,
    expected: Expected,
}

impl Jwt {
    /// Takes tokens of `issuer`, whose keys are at `jwks`, signed by any [`Algorithm`].
    ///
    /// # Errors
    /// `jwks` is no HTTPS URL, nor one on localhost; `issuer` is empty.
    pub fn new(jwks: &str, issuer: &str) -> Result<Self, ConfigError> {
        if issuer.is_empty() {
            return Err(ConfigError::new("MCP_ISSUER", "is not set: it is the `iss` of the tokens that are taken"));
        }
        Ok(Self {
            jwks: SecureUrl::parse(jwks).map_err(|problem| ConfigError::new("MCP_JWKS_URL", problem))?,
            algorithms: Algorithm::ALL.to_vec(),
            types: vec![ACCESS_TOKEN.to_owned()],
            expected: Expected { issuer: Some(issuer.to_owned()), audience: Audience::Resource, all: true },
        })
    }

    /// Takes tokens that are signed by one of these algorithms alone.
    #[must_use]
    pub fn algorithms(mut self, algorithms: impl IntoIterator<Item = Algorithm>) -> Self {
        self.algorithms = algorithms.into_iter().collect();
        self
    }

    /// Takes tokens of these types (`typ`), in place of `at+jwt`: for issuers that call their access tokens `JWT`, as they call
    /// all others.
    #[must_use]
    pub fn types(mut self, types: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.types = types.into_iter().map(Into::into).collect();
        self
    }

    /// Takes tokens for `audience`, in place of those for this server's URL.
    #[must_use]
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.expected.audience = Audience::Named(audience.into());
        self
    }

    /// Whether `typ` is a type that is taken; `application/` before it goes without saying (RFC 7515 §4.1.9).
    fn takes(&self, kind: &str) -> bool {
        let kind = match kind.get(..12) {
            Some(prefix) if prefix.eq_ignore_ascii_case("application/") => kind.get(12..).unwrap_or_default(),
            _ => kind,
        };
        self.types.iter().any(|known| known.eq_ignore_ascii_case(kind))
    }
}

/// A signed token, taken apart (RFC 7515 §7.1).
struct Signed<'t> {
    header: Header,
    /// What is signed.
    message: &'t str,
    claims: &'t str,
    signature: Vec<u8>,
}

struct Header {
    algorithm: String,
    key_id: Option<String>,
    kind: String,
}

/// A signature that is to be checked.
struct Signature<'t> {
    algorithm: Algorithm,
    message: &'t str,
    bytes: &'t [u8],
}

impl Signature<'_> {
    /// Whether one of `keys` that is for the algorithm has made the signature.
    async fn is_by_one_of(&self, keys: Vec<PublicKey>, presented: Presented<'_>) -> Result<bool, TokenRefusal> {
        for key in keys.into_iter().filter(|key| Algorithm::of(key) == self.algorithm) {
            let (message, signature) = (self.message.as_bytes().to_vec(), self.bytes.to_vec());
            let checked = presented.host().verify(key, message, signature).await;
            if checked.map_err(|error| TokenRefusal::Unavailable(error.to_string().into()))? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn take_apart(token: &str) -> Option<Signed<'_>> {
    let (message, signature) = token.rsplit_once('.')?;
    let (header, claims) = message.split_once('.').filter(|(_, claims)| !claims.contains('.'))?;
    let header = claims::object(&decoded(header)?)?;
    let string = |name: &str| header.get(name).and_then(serde_json::Value::as_str).map(str::to_owned);
    // What is critical has to be understood, and nothing is (RFC 7515 §4.1.11).
    if header.contains_key("crit") || header.get("kid").is_some_and(|id| !id.is_string()) {
        return None;
    }
    let header = Header { algorithm: string("alg")?, key_id: string("kid"), kind: string("typ").unwrap_or_default() };
    Some(Signed { header, message, claims, signature: decoded(signature)? })
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

impl TokenValidator for Jwt {
    async fn validate(&self, presented: Presented<'_>) -> Result<Principal, TokenRefusal> {
        let Signed { header, message, claims, signature } =
            take_apart(presented.token()).ok_or_else(|| invalid("it is no signed token"))?;
        if !self.takes(&header.kind) {
            return Err(invalid("its `typ` is not that of an access token"));
        }
        // The token only says which of the algorithms that are allowed here it means, and the key has to be for that one.
        let algorithm = Algorithm::named(&header.algorithm).filter(|algorithm| self.algorithms.contains(algorithm));
        let algorithm = algorithm.ok_or_else(|| invalid("its `alg` is not allowed here"))?;
        let key_id = header.key_id.as_deref();
        let signed = Signature { algorithm, message, bytes: &signature };
        let keys = jwks::keys(&self.jwks, key_id, presented).await?;
        let mut is_signed = signed.is_by_one_of(keys, presented).await?;
        // A token that names no key may be signed by a key that is newer than those that are kept.
        if !is_signed
            && key_id.is_none()
            && let Some(newer) = jwks::refetched(&self.jwks, key_id, presented).await?
        {
            is_signed = signed.is_by_one_of(newer, presented).await?;
        }
        if !is_signed {
            return Err(invalid("no key of its issuer has signed it"));
        }
        let claims = decoded(claims).and_then(|json| claims::object(&json));
        let claims = claims.ok_or_else(|| invalid("its claims are no JSON object"))?;
        claims::judge(claims, &self.expected, presented.resource(), presented.now())
    }

    fn needs_resource(&self) -> bool {
        matches!(self.expected.audience, Audience::Resource)
    }
}
