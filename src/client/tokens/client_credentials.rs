//! Access tokens that this program gets for itself: the client credentials grant.
//!
//! Source: RFC 6749 §2.3.1, §4.4 and §5; RFC 8707 §2.

use std::cell::RefCell;
use std::fmt;

use edge_json::{Document, JsonLimits, Kind, Value};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, Request};

use crate::base64::STANDARD;
use crate::client::wire::headers;
use crate::config::{ConfigError, SecureUrl};
use crate::host::Fetched;
use crate::limits::{UPSTREAM_TOKEN_BYTES, UPSTREAM_TOKEN_EARLY_SECONDS, UPSTREAM_TOKEN_SECONDS};

const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");

/// The credentials with which this program gets access tokens for itself from an authorization server (the grant `client_credentials`).
///
/// The token is requested when it is first needed, for the URL of the MCP server as the `resource`. It is cached in memory until 60 s before
/// it expires, but at least for half of its lifetime. If the MCP server rejects a cached token, the client requests one new token.
///
/// ```
/// use edge_mcp::client::{ClientCredentials, Upstream};
///
/// let secret = std::env::var("SECRET").unwrap_or_default();
/// let desk = ClientCredentials::basic("https://auth.example.com/token", "desk", &secret)?.scopes(["parcels:read"]);
/// let parcels = Upstream::at("https://parcels.example.com/mcp")?.client_credentials(desk);
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
pub struct ClientCredentials {
    token_endpoint: SecureUrl,
    authentication: Authentication,
    scopes: Vec<String>,
    resource: Option<String>,
    cached: RefCell<Option<Token>>,
}

/// The way in which the client authenticates to the token endpoint.
enum Authentication {
    /// The `Authorization` header (`client_secret_basic`).
    Basic(HeaderValue),
    /// Two form fields: the client id and the secret (`client_secret_post`).
    Post(String, String),
}

/// An access token, as the value of the `Authorization` header.
struct Token {
    header: HeaderValue,
    /// The time until which it is used, in milliseconds since 1970.
    until: u64,
}

impl ClientCredentials {
    /// Creates a client that sends its id and secret in the `Authorization` header (`client_secret_basic`).
    ///
    /// # Errors
    /// `token_endpoint` is neither an `https:` URL nor on localhost, or the id is empty.
    pub fn basic(token_endpoint: &str, id: &str, secret: &str) -> Result<Self, ConfigError> {
        // Form-encoded text is ASCII without colons, so the header is valid.
        let pair = format!("{}:{}", form_encoded(id), form_encoded(secret));
        let header = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(pair)));
        let mut header = header.map_err(|_| ConfigError::new("the client secret", "cannot be sent in a header"))?;
        header.set_sensitive(true);
        Self::new(token_endpoint, id, Authentication::Basic(header))
    }

    /// Creates a client that sends its id and secret as form fields (`client_secret_post`).
    ///
    /// # Errors
    /// As for [`basic`](Self::basic).
    pub fn post(token_endpoint: &str, id: &str, secret: &str) -> Result<Self, ConfigError> {
        Self::new(token_endpoint, id, Authentication::Post(id.to_owned(), secret.to_owned()))
    }

    fn new(token_endpoint: &str, id: &str, authentication: Authentication) -> Result<Self, ConfigError> {
        if id.is_empty() {
            return Err(ConfigError::new("the client id", "is empty"));
        }
        let token_endpoint = SecureUrl::parse(token_endpoint);
        Ok(Self {
            token_endpoint: token_endpoint
                .map_err(|problem| ConfigError::new("the URL of the token endpoint", problem))?,
            authentication,
            scopes: Vec::new(),
            resource: None,
            cached: RefCell::new(None),
        })
    }

    /// Requests these scopes. Without scopes, the authorization server chooses.
    #[must_use]
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Requests a token for this resource instead of the URL of the MCP server. Use it if the authorization server knows the server by
    /// another URL, for example because a service binding reaches it.
    #[must_use]
    pub fn resource(mut self, url: impl Into<String>) -> Self {
        self.resource = Some(url.into());
        self
    }

    /// Returns the cached token, as a header.
    pub(in crate::client) fn token(&self, now_ms: u64) -> Option<HeaderValue> {
        self.cached.borrow().as_ref().filter(|token| now_ms < token.until).map(|token| token.header.clone())
    }

    /// Drops the cached token if it is `refused`.
    pub(super) fn forget(&self, refused: &HeaderValue) {
        self.cached.borrow_mut().take_if(|token| token.header == *refused);
    }

    /// Creates the request for a token for the MCP server at `url`.
    pub(in crate::client) fn request(&self, url: &SecureUrl) -> Request<String> {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("grant_type", "client_credentials");
        // The query may be a secret of the MCP server, and a resource should not have one (RFC 8707 §2).
        let url = url.as_str().split('?').next().unwrap_or_default();
        form.append_pair("resource", self.resource.as_deref().unwrap_or(url));
        if !self.scopes.is_empty() {
            form.append_pair("scope", &self.scopes.join(" "));
        }
        if let Authentication::Post(id, secret) = &self.authentication {
            form.append_pair("client_id", id).append_pair("client_secret", secret);
        }
        let mut request = self.token_endpoint.request(Method::POST, form.finish());
        request.headers_mut().insert(CONTENT_TYPE, FORM);
        if let Authentication::Basic(header) = &self.authentication {
            request.headers_mut().insert(AUTHORIZATION, header.clone());
        }
        request
    }

    /// Reads the answer of the token endpoint, and caches the token.
    ///
    /// # Errors
    /// The problem as a predicate whose subject is the authorization server. It contains nothing of the answer except an error code.
    pub(in crate::client) fn cache(&self, answer: &Fetched, now_ms: u64) -> Result<HeaderValue, String> {
        let document = Document::parse(&answer.body, JsonLimits::default()).ok();
        let answered = document.as_ref().map(Document::root).filter(|root| root.kind() == Kind::Object);
        if let Some(code) = answered.and_then(error_code) {
            return Err(format!("rejects the request for an access token ({code})"));
        }
        if answer.status != 200 {
            return Err(format!("rejects the request for an access token (status {})", answer.status));
        }
        let answered = answered.ok_or("sent an answer that is not a JSON object")?;
        if !answered.string("token_type").is_some_and(|kind| kind.eq_ignore_ascii_case("bearer")) {
            return Err("issued a token that is not a bearer token".into());
        }
        let token = answered.string("access_token").filter(|token| token.len() <= UPSTREAM_TOKEN_BYTES);
        let header =
            token.and_then(|token| headers::bearer(&token)).ok_or("issued a token that no header can contain")?;
        let lifetime = lifetime(answered)?;
        let seconds = lifetime.saturating_sub(UPSTREAM_TOKEN_EARLY_SECONDS).max(lifetime / 2).max(1);
        let until = now_ms.saturating_add(seconds.saturating_mul(1000));
        self.cached.replace(Some(Token { header: header.clone(), until }));
        Ok(header)
    }
}

/// Returns the lifetime of a token in seconds: an integer, or digits in a string.
fn lifetime(answer: Value<'_>) -> Result<u64, &'static str> {
    let Some(expires_in) = answer.get("expires_in").filter(|value| value.kind() != Kind::Null) else {
        return Ok(UPSTREAM_TOKEN_SECONDS);
    };
    let text = expires_in.as_str().map_or_else(|| expires_in.text().to_owned(), Into::into);
    text.parse().map_err(|_| "issued a token whose lifetime is not a number of seconds")
}

/// Returns the error code of an answer, if it has the form of a code.
fn error_code(answer: Value<'_>) -> Option<String> {
    const LONGEST: usize = 40;
    answer.get("error")?;
    let code = answer.string("error").unwrap_or_default();
    let is_code =
        |code: &str| code.len() <= LONGEST && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    Some(Some(code).filter(|code| !code.is_empty() && is_code(code)).unwrap_or_else(|| "an unknown error".to_owned()))
}

fn form_encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

impl fmt::Debug for ClientCredentials {
    /// Writes the URL and the scopes, but neither the secret nor a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { token_endpoint, scopes, .. } = self;
        f.debug_struct("ClientCredentials")
            .field("token_endpoint", token_endpoint)
            .field("scopes", scopes)
            .finish_non_exhaustive()
    }
}
