//! Tokens that the authorization server is asked about.
//!
//! Source: RFC 7662; RFC 6749 §2.3.1.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Request;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use serde_json::{Map, Value};

use super::claims::{self, Audience, Expected};
use super::config::ConfigError;
use super::principal::Principal;
use super::secure_url::SecureUrl;
use super::token_cache::{self, Key};
use super::validator::{Presented, TokenRefusal, TokenValidator};
use crate::host::{FetchLimits, Fetched};
use crate::limits::{INTROSPECTION_SECONDS, ISSUER_BYTES, ISSUER_SECONDS, REFUSAL_SECONDS};

/// What an answer may take.
const LIMITS: FetchLimits = FetchLimits { time: Duration::from_secs(ISSUER_SECONDS), bytes: ISSUER_BYTES };

/// Asks an authorization server about each token.
///
/// The answer is good only if it says `"active": true`, names no end that has passed, and has the URL of this server among its
/// audiences. It is kept for a minute, and never past the token's end, so that a token that is revoked may pass for that long;
/// refusals are kept for five seconds. An authorization server that is down, slow, or gives no sound answer is a 503 for the
/// caller: never a 401, which would throw a good token away, and never a way in.
///
/// ```
/// use edge_mcp::auth::Introspection;
///
/// let secret = std::env::var("SECRET").unwrap_or_default();
/// let validator = Introspection::new("https://auth.example.com/introspect")?.basic("knowledge-base", &secret);
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
pub struct Introspection {
    endpoint: SecureUrl,
    client: ClientAuthentication,
    expected: Expected,
    kept: Option<Duration>,
}

/// How this server shows the authorization server who asks.
enum ClientAuthentication {
    None,
    /// An `Authorization` header.
    Header(String),
    /// Further fields of the form.
    Form(String, String),
}

impl ClientAuthentication {
    /// The parts by which one client differs from another.
    fn parts(&self) -> [&str; 3] {
        match self {
            Self::None => ["none", "", ""],
            Self::Header(value) => ["header", value, ""],
            Self::Form(id, secret) => ["form", id, secret],
        }
    }
}

impl Introspection {
    /// Asks at `endpoint`, without saying who asks.
    ///
    /// # Errors
    /// `endpoint` is no HTTPS URL, nor one on localhost.
    pub fn new(endpoint: &str) -> Result<Self, ConfigError> {
        Self::at("MCP_INTROSPECTION_ENDPOINT", endpoint)
    }

    /// The same, with the name of the variable that the endpoint is in; errors name it.
    pub(crate) fn at(variable: &'static str, endpoint: &str) -> Result<Self, ConfigError> {
        Ok(Self {
            endpoint: SecureUrl::parse(endpoint).map_err(|problem| ConfigError::new(variable, problem))?,
            client: ClientAuthentication::None,
            expected: Expected::default(),
            kept: Some(Duration::from_secs(INTROSPECTION_SECONDS)),
        })
    }

    /// Shows who asks by HTTP Basic (`client_secret_basic`). Both are form-encoded first, as OAuth asks for.
    #[must_use]
    pub fn basic(mut self, client_id: &str, client_secret: &str) -> Self {
        let pair = format!("{}:{}", form_encoded(client_id), form_encoded(client_secret));
        self.client = ClientAuthentication::Header(format!("Basic {}", STANDARD.encode(pair)));
        self
    }

    /// Shows who asks in the form (`client_secret_post`).
    #[must_use]
    pub fn post(mut self, client_id: impl Into<String>, client_secret: impl Into<String>) -> Self {
        self.client = ClientAuthentication::Form(client_id.into(), client_secret.into());
        self
    }

    /// Shows who asks by a token of this server's own.
    #[must_use]
    pub fn bearer(mut self, token: &str) -> Self {
        self.client = ClientAuthentication::Header(format!("Bearer {token}"));
        self
    }

    /// Takes no token of another issuer than this, where an answer names one.
    #[must_use]
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.expected.issuer = Some(issuer.into());
        self
    }

    /// Takes tokens for `audience`, in place of those for this server's URL.
    #[must_use]
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.expected.audience = Audience::Named(audience.into());
        self
    }

    /// Takes tokens for any server, and those that do not say for which: for an authorization server that has no other to
    /// issue tokens for.
    #[must_use]
    pub fn any_audience(mut self) -> Self {
        self.expected.audience = Audience::Any;
        self
    }

    /// Keeps an answer for at most `time`, and never past the end of the token.
    #[must_use]
    pub fn kept_for(mut self, time: Duration) -> Self {
        self.kept = Some(time);
        self
    }

    /// Asks again for every request.
    #[must_use]
    pub fn without_cache(mut self) -> Self {
        self.kept = None;
        self
    }

    async fn ask(&self, presented: Presented<'_>) -> Result<Principal, TokenRefusal> {
        presented.may_ask_elsewhere().await?;
        let request = self.request(presented.token()).ok_or_else(|| unavailable("it cannot be asked"))?;
        let answer = presented.host().fetch(request, LIMITS).await;
        let answer = answer.map_err(|error| TokenRefusal::Unavailable(error.to_string().into()))?;
        let claims = read(&answer)?;
        claims::judge(claims, &self.expected, presented.resource(), presented.now())
    }

    /// `None` if the program has set what no header can hold.
    fn request(&self, token: &str) -> Option<Request<String>> {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("token", token).append_pair("token_type_hint", "access_token");
        let mut request = Request::post(self.endpoint.as_str())
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        match &self.client {
            ClientAuthentication::None => {}
            ClientAuthentication::Header(value) => {
                request = request.header(AUTHORIZATION, HeaderValue::from_str(value).ok()?);
            }
            ClientAuthentication::Form(id, secret) => {
                form.append_pair("client_id", id).append_pair("client_secret", secret);
            }
        }
        request.body(form.finish()).ok()
    }
}

fn form_encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

fn unavailable(detail: &'static str) -> TokenRefusal {
    TokenRefusal::Unavailable(detail.into())
}

/// What an authorization server says of a token, if it says that it is active.
fn read(answer: &Fetched) -> Result<Map<String, Value>, TokenRefusal> {
    match answer.status {
        200 => parse_answer(&answer.body),
        400 if is_of_no_known_kind(&answer.body) => Err(claims::invalid("it is of a kind that cannot be asked about")),
        status => Err(TokenRefusal::Unavailable(format!("its status is {status}").into())),
    }
}

/// Some authorization servers cannot tell anything of the tokens that carry their own claims, and say so by an error
/// (RFC 7009 §2.2.1).
fn is_of_no_known_kind(body: &[u8]) -> bool {
    claims::object(body)
        .is_some_and(|answer| answer.get("error").is_some_and(|error| error == "unsupported_token_type"))
}

/// The claims of an introspection answer: `body`, which came with a 200 (RFC 7662 §2.2).
///
/// # Errors
/// [`TokenRefusal::Invalid`], unless `active` is `true`, the JSON value and nothing like it;
/// [`TokenRefusal::Unavailable`], if this is no answer at all.
pub fn parse_answer(body: &[u8]) -> Result<Map<String, Value>, TokenRefusal> {
    let claims = claims::object(body).ok_or_else(|| unavailable("its answer is no JSON object"))?;
    match claims.get("active") {
        Some(Value::Bool(true)) => Ok(claims),
        Some(_) => Err(claims::invalid("it is not active")),
        None => Err(unavailable("its answer does not say whether the token is active")),
    }
}

impl TokenValidator for Introspection {
    async fn validate(&self, presented: Presented<'_>) -> Result<Principal, TokenRefusal> {
        let Some(kept) = self.kept else { return self.ask(presented).await };
        let resource = presented.resource().map_or("", SecureUrl::as_str);
        // The answer may depend on the client that asks (RFC 7662 §2.2). The secrets go into the digest only.
        let [kind, client, secret] = self.client.parts();
        let expected = format!("{:?}", self.expected);
        let key = Key::of(&[self.endpoint.as_str(), kind, client, secret, resource, &expected, presented.token()]);
        if let Some(answer) = token_cache::recall(&key, presented.now()) {
            return answer;
        }
        let answer = self.ask(presented).await;
        let now = presented.now();
        let until = match &answer {
            Ok(principal) => {
                let latest = now.saturating_add(kept.as_secs());
                Some(principal.expires.map_or(latest, |expires| expires.min(latest)))
            }
            Err(TokenRefusal::Unavailable(_) | TokenRefusal::TooManyRequests) => None,
            Err(_) => Some(now.saturating_add(REFUSAL_SECONDS.min(kept.as_secs()))),
        };
        if let Some(until) = until {
            token_cache::keep(key, &answer, until, now);
        }
        answer
    }

    fn needs_resource(&self) -> bool {
        matches!(self.expected.audience, Audience::Resource)
    }
}
