//! A validator that asks the authorization server about each token.
//!
//! Source: RFC 7662.

use std::time::Duration;

use serde_json::{Map, Value};

use super::claims::{self, Audience, ExpectedClaims};
use super::client_authentication::{ClientAuthentication, Form};
use super::jwks::ISSUER_LIMITS;
use super::principal::Principal;
use super::token_cache::{self, Key};
use super::validator::{PresentedToken, TokenRefusal, TokenValidator};
use crate::config::SecureUrl;
use crate::config::{ConfigError, Variables};
use crate::host::Fetched;
use crate::limits::{INTROSPECTION_SECONDS, REFUSAL_SECONDS};

/// Asks an authorization server about each token.
///
/// A token is valid if all of these conditions are true:
///
/// - The answer has `"active": true`.
/// - The `exp` of the answer has not passed, or the answer has no `exp`.
/// - The `aud` of the answer contains the URL of this server.
///
/// The answer is cached for 60 s, but not beyond the expiry of the token. So a revoked token may be accepted for up to 60 s. A refusal is
/// cached for 5 s.
///
/// If the authorization server is down, is slow or sends a malformed answer, the caller gets a 503. The caller does not get a 401, because
/// its client would then discard a valid token.
///
/// ```
/// use edge_mcp::auth::Introspection;
///
/// let secret = std::env::var("SECRET").unwrap_or_default();
/// let validator = Introspection::new("https://auth.example.com/introspect")?.basic("knowledge-base", &secret);
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
#[must_use]
pub struct Introspection {
    endpoint: SecureUrl,
    client: ClientAuthentication,
    expected: ExpectedClaims,
    /// The time for which an answer is cached. `None` disables the cache.
    cache_time: Option<Duration>,
}

impl Introspection {
    /// Creates the validator that the variables describe.
    ///
    /// # Errors
    /// A variable is missing or wrong.
    pub(crate) fn of_variables(variables: &Variables<'_>) -> Result<Self, ConfigError> {
        const ENDPOINT: &str = "MCP_INTROSPECTION_ENDPOINT";
        const METHOD: &str = "MCP_INTROSPECTION_AUTH_METHOD";
        let endpoint =
            variables.required(ENDPOINT, "the URL of the introspection endpoint of the authorization server")?;
        let mut validator = Self::at(ENDPOINT, &endpoint)?;
        if let Some(issuer) = variables.get("MCP_ISSUER")? {
            validator = validator.issuer(issuer);
        }
        let secret = || {
            const SECRET: &str = "MCP_INTROSPECTION_CLIENT_SECRET";
            let secret = variables.secret(SECRET, "the client secret or bearer token of this server")?;
            if secret.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
                Ok(secret)
            } else {
                Err(ConfigError::new(SECRET, "has characters that are not printable ASCII"))
            }
        };
        let id = || {
            variables
                .required("MCP_INTROSPECTION_CLIENT_ID", "the client id of this server at the introspection endpoint")
        };
        match variables.get(METHOD)?.as_deref() {
            None | Some("basic") => Ok(validator.basic(&id()?, &secret()?)),
            Some("post") => Ok(validator.post(id()?, secret()?)),
            Some("bearer") => Ok(validator.bearer(&secret()?)),
            Some("none") => Ok(validator),
            Some(_) => Err(ConfigError::new(METHOD, "must be \"basic\", \"post\", \"bearer\" or \"none\"")),
        }
    }

    /// Creates a validator that sends its requests to `endpoint`, without client authentication.
    ///
    /// # Errors
    /// `endpoint` is neither an HTTPS URL nor on localhost.
    pub fn new(endpoint: &str) -> Result<Self, ConfigError> {
        Self::at("MCP_INTROSPECTION_ENDPOINT", endpoint)
    }

    /// Creates the validator as [`new`](Self::new) does, but errors name `variable` as the source of the URL.
    pub(crate) fn at(variable: &'static str, endpoint: &str) -> Result<Self, ConfigError> {
        let endpoint = SecureUrl::parse(endpoint).map_err(|problem| ConfigError::new(variable, problem))?;
        let default_issuer = Some(endpoint.as_str().to_owned());
        Ok(Self {
            endpoint,
            client: ClientAuthentication::None(None),
            expected: ExpectedClaims { default_issuer, ..ExpectedClaims::default() },
            cache_time: Some(Duration::from_secs(INTROSPECTION_SECONDS)),
        })
    }

    /// Authenticates with HTTP Basic (`client_secret_basic`). The id and the secret are form-encoded first, as OAuth requires.
    pub fn basic(mut self, client_id: &str, client_secret: &str) -> Self {
        self.client = ClientAuthentication::Basic(client_id.to_owned(), client_secret.to_owned());
        self
    }

    /// Authenticates with form fields (`client_secret_post`).
    pub fn post(mut self, client_id: impl Into<String>, client_secret: impl Into<String>) -> Self {
        self.client = ClientAuthentication::Post(client_id.into(), client_secret.into());
        self
    }

    /// Authenticates with a bearer token of this server.
    pub fn bearer(mut self, token: &str) -> Self {
        self.client = ClientAuthentication::Bearer(token.to_owned());
        self
    }

    /// Requires this issuer if the answer has an `iss`, and uses it if the answer has none. Without this setting, the URL of the endpoint
    /// is the issuer of an answer that has no `iss`.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.expected.issuer = Some(issuer.into());
        self
    }

    /// Requires the audience `audience` instead of the URL of this server.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.expected = self.expected.audience(audience);
        self
    }

    /// Accepts tokens for any audience, and tokens without an audience. Use it only if the authorization server issues tokens for this
    /// server alone.
    pub fn any_audience(mut self) -> Self {
        self.expected.audience = Audience::Any;
        self
    }

    /// Caches an answer for at most `time`, but not beyond the expiry of the token.
    pub fn cache_for(mut self, time: Duration) -> Self {
        self.cache_time = Some(time);
        self
    }

    /// Disables the cache: the validator asks the authorization server for every request.
    pub fn without_cache(mut self) -> Self {
        self.cache_time = None;
        self
    }

    async fn ask(&self, presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
        presented.check_rate_limit().await?;
        let mut form = Form::new(String::new());
        form.append_pair("token", presented.token()).append_pair("token_type_hint", "access_token");
        let request = self.client.post(&self.endpoint, form, self.endpoint.as_str(), presented.host()).await;
        let request = request.map_err(|problem| TokenRefusal::Unavailable(problem.into()))?;
        let answer = presented.host().fetch(request, ISSUER_LIMITS).await;
        let answer = answer.map_err(|error| TokenRefusal::Unavailable(error.to_string().into()))?;
        let claims = parse_response(&answer)?;
        self.expected.check(claims, presented)
    }
}

fn unavailable(detail: &'static str) -> TokenRefusal {
    TokenRefusal::Unavailable(detail.into())
}

/// Returns the claims of a token if the authorization server reports it as active.
fn parse_response(answer: &Fetched) -> Result<Map<String, Value>, TokenRefusal> {
    match answer.status {
        200 => parse_answer(&answer.body),
        400 if is_unsupported_token_type(&answer.body) => {
            Err(claims::invalid("the authorization server does not introspect tokens of its type"))
        }
        _ => {
            let problem = format!("the authorization server answers with {}", answer.status_for_log());
            Err(TokenRefusal::Unavailable(problem.into()))
        }
    }
}

/// Returns whether the authorization server cannot introspect tokens of this type. Some servers send this error for signed tokens
/// (RFC 7009 §2.2.1).
fn is_unsupported_token_type(body: &[u8]) -> bool {
    claims::parse_object(body)
        .is_some_and(|answer| answer.get("error").is_some_and(|error| error == "unsupported_token_type"))
}

/// Returns the claims of an introspection answer: the `body` of a response with status 200 (RFC 7662 §2.2).
///
/// # Errors
/// [`TokenRefusal::Invalid`] if `active` is not the JSON value `true`; [`TokenRefusal::Unavailable`] if `body` is not an introspection
/// answer.
pub fn parse_answer(body: &[u8]) -> Result<Map<String, Value>, TokenRefusal> {
    let claims = claims::parse_object(body)
        .ok_or_else(|| unavailable("the answer of the authorization server is not a JSON object"))?;
    match claims.get("active") {
        Some(Value::Bool(true)) => Ok(claims),
        Some(_) => Err(claims::invalid("it is not active")),
        None => Err(unavailable("the answer of the authorization server has no `active`")),
    }
}

impl TokenValidator for Introspection {
    async fn validate(&self, presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
        let Some(cache_time) = self.cache_time else { return self.ask(presented).await };
        let resource = presented.resource().map_or("", SecureUrl::as_str);
        // The answer may depend on the client that asks (RFC 7662 §2.2), so the key of the cache includes the client. The key is a digest,
        // so the cache does not store secrets.
        let client = [self.client.method(), self.client.client_id(), self.client.secret()];
        let expected = format!("{:?}", self.expected);
        let key = [&[self.endpoint.as_str()], &client[..], &[resource, &expected, presented.token()]].concat();
        let key = Key::of(&key);
        if let Some(answer) = token_cache::get(&key, presented.now()) {
            return answer;
        }
        let answer = self.ask(presented).await;
        let now = presented.now();
        let expires = match &answer {
            Ok(principal) => {
                let latest = now.saturating_add(cache_time.as_secs());
                Some(principal.expires.map_or(latest, |expires| expires.min(latest)))
            }
            Err(TokenRefusal::Unavailable(_) | TokenRefusal::TooManyRequests) => None,
            Err(_) => Some(now.saturating_add(REFUSAL_SECONDS.min(cache_time.as_secs()))),
        };
        if let Some(expires) = expires {
            token_cache::insert(key, &answer, expires, now);
        }
        answer
    }

    fn needs_resource(&self) -> bool {
        self.expected.needs_resource()
    }

    fn vouches_for(&self, issuer: &str) -> bool {
        self.expected.own_issuer() == Some(issuer)
    }
}
