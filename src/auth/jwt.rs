//! A validator of access tokens that the authorization server has signed.
//!
//! Source: RFC 9068; RFC 7515; RFC 8725, "JSON Web Token Best Current Practices".

use super::claims::{self, ExpectedClaims, invalid};
use super::jwks::{self, Algorithm};
use super::principal::Principal;
use super::validator::{PresentedToken, TokenRefusal, TokenValidator};
use crate::base64::URL_SAFE;
use crate::config::SecureUrl;
use crate::config::{ConfigError, Variables};
use crate::host::PublicKey;

/// The media type of access tokens (RFC 9068 §2.1). It distinguishes them from other tokens of the same issuer.
const ACCESS_TOKEN: &str = "at+jwt";

/// Checks signed access tokens with the published keys of their issuer.
///
/// A token is valid if all of these conditions are true:
///
/// - A key of the issuer has signed it with an allowed algorithm.
/// - It is an access token (`"typ": "at+jwt"`).
/// - Its `iss` is the issuer, and its `aud` contains the URL of this server.
/// - Its `exp` has not passed.
///
/// The keys are cached for 10 minutes. Two kinds of tokens cause an earlier fetch: a token with an unknown key id, and a token without a
/// key id that no cached key has signed. After a fetch, the keys are not fetched again for 1 minute. If a fetch fails, the caller gets a
/// 503, and the keys are not fetched again for 5 s.
///
/// A signed token cannot be revoked before it expires. If you need that, use [`Introspection`](super::Introspection).
///
/// ```
/// use edge_mcp::auth::{Algorithm, Jwt};
///
/// let validator = Jwt::new("https://auth.example.com/jwks", "https://auth.example.com")?.algorithms([Algorithm::Es256]);
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
#[must_use]
pub struct Jwt {
    jwks: SecureUrl,
    algorithms: Vec<Algorithm>,
    types: Vec<String>,
    expected: ExpectedClaims,
}

impl Jwt {
    /// Creates the validator that the variables describe.
    ///
    /// # Errors
    /// A variable is missing or wrong.
    pub(crate) fn of_variables(variables: &Variables<'_>) -> Result<Self, ConfigError> {
        let jwks = variables.required("MCP_JWKS_URL", "the URL of the issuer's keys")?;
        let issuer = variables.required("MCP_ISSUER", "the exact `iss` of the tokens")?;
        let mut validator = Self::new(&jwks, &issuer)?;
        let names = variables.list("MCP_JWT_ALGORITHMS")?;
        if !names.is_empty() {
            let mut algorithms = Vec::new();
            for name in &names {
                algorithms.push(Algorithm::named(name).ok_or_else(|| {
                    let known = Algorithm::ALL.map(Algorithm::name).join(", ");
                    ConfigError::new("MCP_JWT_ALGORITHMS", format!("must name some of {known}"))
                })?);
            }
            validator = validator.algorithms(algorithms);
        }
        let types = variables.list("MCP_JWT_TYPES")?;
        Ok(if types.is_empty() { validator } else { validator.types(types) })
    }

    /// Creates a validator for tokens of `issuer`, whose keys are at the URL `jwks`. It allows every [`Algorithm`].
    ///
    /// # Errors
    /// `jwks` is neither an HTTPS URL nor on localhost, or `issuer` is empty.
    pub fn new(jwks: &str, issuer: &str) -> Result<Self, ConfigError> {
        if issuer.is_empty() {
            return Err(ConfigError::new("MCP_ISSUER", "is not set: set it to the `iss` of the access tokens"));
        }
        Ok(Self {
            jwks: SecureUrl::parse(jwks).map_err(|problem| ConfigError::new("MCP_JWKS_URL", problem))?,
            algorithms: Algorithm::ALL.to_vec(),
            types: vec![ACCESS_TOKEN.to_owned()],
            expected: ExpectedClaims::of_issuer(issuer),
        })
    }

    /// Allows only these algorithms.
    pub fn algorithms(mut self, algorithms: impl IntoIterator<Item = Algorithm>) -> Self {
        self.algorithms = algorithms.into_iter().collect();
        self
    }

    /// Accepts tokens of these types (`typ`) instead of `at+jwt`. Some issuers use `JWT` for all their tokens.
    pub fn types(mut self, types: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.types = types.into_iter().map(Into::into).collect();
        self
    }

    /// Requires the audience `audience` instead of the URL of this server.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.expected = self.expected.audience(audience);
        self
    }

    /// Returns whether tokens of this `typ` are accepted. The prefix `application/` is optional (RFC 7515 §4.1.9).
    fn accepts_type(&self, kind: &str) -> bool {
        let kind = match kind.get(..12) {
            Some(prefix) if prefix.eq_ignore_ascii_case("application/") => kind.get(12..).unwrap_or_default(),
            _ => kind,
        };
        self.types.iter().any(|known| known.eq_ignore_ascii_case(kind))
    }
}

/// The parts of a signed token (RFC 7515 §7.1).
struct SignedToken<'t> {
    header: Header,
    /// The signed part of the token: header and claims.
    message: &'t str,
    claims: &'t str,
    signature: Vec<u8>,
}

struct Header {
    algorithm: String,
    key_id: Option<String>,
    kind: String,
}

/// A signature and the message that it signs.
struct Signature<'t> {
    algorithm: Algorithm,
    message: &'t str,
    bytes: &'t [u8],
}

impl Signature<'_> {
    /// Returns whether one of `keys` verifies the signature. Keys for other algorithms are ignored.
    async fn is_verified_by_any(
        &self,
        keys: Vec<PublicKey>,
        presented: PresentedToken<'_>,
    ) -> Result<bool, TokenRefusal> {
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

fn parse(token: &str) -> Option<SignedToken<'_>> {
    let (message, signature) = token.rsplit_once('.')?;
    let (header, claims) = message.split_once('.').filter(|(_, claims)| !claims.contains('.'))?;
    let header = claims::parse_object(&decode(header)?)?;
    let string = |name: &str| header.get(name).and_then(serde_json::Value::as_str).map(str::to_owned);
    // A token with a critical extension that is not supported must be rejected (RFC 7515 §4.1.11). This library does not support any.
    if header.contains_key("crit") || header.get("kid").is_some_and(|id| !id.is_string()) {
        return None;
    }
    let header = Header { algorithm: string("alg")?, key_id: string("kid"), kind: string("typ").unwrap_or_default() };
    Some(SignedToken { header, message, claims, signature: decode(signature)? })
}

fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE.decode(text)
}

impl TokenValidator for Jwt {
    async fn validate(&self, presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
        let SignedToken { header, message, claims, signature } =
            parse(presented.token()).ok_or_else(|| invalid("it is not a signed token"))?;
        if !self.accepts_type(&header.kind) {
            return Err(invalid("its `typ` is not the type of an access token"));
        }
        // `alg` only selects one of the allowed algorithms. Each key is for one algorithm, so a token cannot choose how a key is used.
        let algorithm = Algorithm::named(&header.algorithm).filter(|algorithm| self.algorithms.contains(algorithm));
        let algorithm = algorithm.ok_or_else(|| invalid("its `alg` is not allowed"))?;
        // The claims are not proved yet. They only spare the check of the signature if the token is refused anyway.
        let claims = decode(claims).and_then(|json| claims::parse_object(&json));
        let claims = claims.ok_or_else(|| invalid("its claims are not a JSON object"))?;
        let principal = self.expected.check(claims, presented)?;
        presented.check_not_blocked()?;
        let key_id = header.key_id.as_deref();
        let signed = Signature { algorithm, message, bytes: &signature };
        let keys = jwks::keys(&self.jwks, key_id, presented).await?;
        let mut is_signed = signed.is_verified_by_any(keys, presented).await?;
        // The key of a token without a key id may be newer than the cached keys.
        if !is_signed
            && key_id.is_none()
            && let Some(newer) = jwks::refetch(&self.jwks, key_id, presented).await?
        {
            is_signed = signed.is_verified_by_any(newer, presented).await?;
        }
        if is_signed { Ok(principal) } else { Err(presented.refuse_forgery().await) }
    }

    fn needs_resource(&self) -> bool {
        self.expected.needs_resource()
    }

    fn vouches_for(&self, issuer: &str) -> bool {
        self.expected.own_issuer() == Some(issuer)
    }
}
