//! Access tokens that this program gets for itself: the client credentials grant.
//!
//! Source: RFC 6749 §4.4; RFC 8707 §2; the MCP extension "OAuth Client Credentials".

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use http::HeaderValue;

use crate::auth::client_assertion::{SignedAssertion, SigningKey};
use crate::auth::client_authentication::ClientAuthentication;
use crate::client::oauth::discovery::{Discovery, Issuers};
use crate::client::oauth::documents::Requests;
use crate::client::oauth::documents::{Documents, ResourceServer};
use crate::client::oauth::error::OAuthError;
use crate::client::oauth::token_request::{Grant, OAuthClient};
use crate::client::oauth::token_response::{TokenResponse, after, used_until};
use crate::client::wire::challenge::BearerChallenge;
use crate::config::{ConfigError, SecureUrl};
use crate::limits::{UPSTREAM_TOKEN_NEW_SECONDS, UPSTREAM_TOKEN_SECONDS};

/// The credentials with which this program gets access tokens for itself from an authorization server (the grant `client_credentials`).
///
/// The token is requested for the MCP server as the `resource`. It is cached in memory until 60 s before it expires, but at least for half of
/// its lifetime. If the MCP server rejects a cached token that is at least a minute old, the client requests one new token.
///
/// ```
/// use edge_mcp::client::{AuthorizationServer, ClientCredentials, Upstream};
///
/// let secret = std::env::var("SECRET").unwrap_or_default();
/// let issuer = AuthorizationServer::issuer("https://auth.example.com")?;
/// let desk = ClientCredentials::basic(issuer, "desk", &secret)?.scopes(["parcels:read"]);
/// let parcels = Upstream::at("https://parcels.example.com/mcp")?.client_credentials(desk);
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
#[must_use]
pub struct ClientCredentials {
    server: AuthorizationServer,
    authentication: ClientAuthentication,
    scopes: Vec<String>,
    discovered: RefCell<Option<Rc<Discovery>>>,
    cached: RefCell<Option<Token>>,
}

/// The authorization server to which credentials belong. They are not sent to another one.
#[derive(Clone, Debug)]
pub struct AuthorizationServer(TokenEndpoint);

#[derive(Clone, Debug)]
enum TokenEndpoint {
    /// The URL of the token endpoint.
    Token(SecureUrl),
    /// The issuer, whose metadata has the token endpoint.
    Issuer(String),
    /// The authorization server that the MCP server names.
    Any,
}

impl AuthorizationServer {
    /// Identifies an authorization server by its issuer URL, exactly as the authorization server spells it. The MCP server must name it. When
    /// the MCP server first answers with status 401, the client reads the metadata of both.
    ///
    /// The URLs in the metadata must be public `https:` URLs with port 443, unless the MCP server is on localhost. For others, use
    /// [`token_endpoint`](Self::token_endpoint).
    ///
    /// # Errors
    /// `url` is neither an `https:` URL nor on localhost.
    pub fn issuer(url: &str) -> Result<Self, ConfigError> {
        SecureUrl::parse(url).map_err(|problem| ConfigError::new("the URL of the issuer", problem))?;
        Ok(Self(TokenEndpoint::Issuer(url.to_owned())))
    }

    /// Identifies an authorization server by its token endpoint. The client then reads no metadata, and requests a token before the first
    /// request to the MCP server.
    ///
    /// # Errors
    /// `url` is neither an `https:` URL nor on localhost.
    pub fn token_endpoint(url: &str) -> Result<Self, ConfigError> {
        let url =
            SecureUrl::parse(url).map_err(|problem| ConfigError::new("the URL of the token endpoint", problem))?;
        Ok(Self(TokenEndpoint::Token(url)))
    }

    /// Uses the authorization server that the MCP server names, whichever it is. Its token endpoint must be on the host of its issuer. Then an MCP server that an attacker controls can name a server
    /// of the attacker, which gets the client secret. With a [`SigningKey`], it gets no secret.
    pub fn any() -> Self {
        Self(TokenEndpoint::Any)
    }
}

/// An access token, as the value of the `Authorization` header.
struct Token {
    header: HeaderValue,
    /// The time at which it was issued, and the time until which it is used, in milliseconds since 1970.
    issued: u64,
    until: u64,
}

impl ClientCredentials {
    /// Creates a client that sends its id and secret in the `Authorization` header (`client_secret_basic`).
    ///
    /// # Errors
    /// The id is empty.
    pub fn basic(server: AuthorizationServer, id: &str, secret: &str) -> Result<Self, ConfigError> {
        Self::new(server, ClientAuthentication::Basic(id.to_owned(), secret.to_owned()))
    }

    /// Creates a client that sends its id and secret as form fields (`client_secret_post`).
    ///
    /// # Errors
    /// The id is empty.
    pub fn post(server: AuthorizationServer, id: &str, secret: &str) -> Result<Self, ConfigError> {
        Self::new(server, ClientAuthentication::Post(id.to_owned(), secret.to_owned()))
    }

    /// Creates a client that signs assertions with its private key (`private_key_jwt`).
    ///
    /// # Errors
    /// The id is empty.
    pub fn private_key_jwt(server: AuthorizationServer, id: &str, key: SigningKey) -> Result<Self, ConfigError> {
        Self::new(server, ClientAuthentication::PrivateKeyJwt(Rc::new(SignedAssertion::new(id, key))))
    }

    fn new(server: AuthorizationServer, authentication: ClientAuthentication) -> Result<Self, ConfigError> {
        if authentication.client_id().is_empty() {
            return Err(ConfigError::new("the client id", "is empty"));
        }
        Ok(Self {
            server,
            authentication,
            scopes: Vec::new(),
            discovered: RefCell::default(),
            cached: RefCell::default(),
        })
    }

    /// Requests these scopes. Without them, the client requests the scopes that the MCP server names, if it names any.
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Returns the cached token, as a header.
    pub(super) fn token(&self, now_ms: u64) -> Option<HeaderValue> {
        self.cached.borrow().as_ref().filter(|token| now_ms < token.until).map(|token| token.header.clone())
    }

    /// Returns whether the cached token is so new that a rejected request does not replace it.
    pub(super) fn has_new_token(&self, now_ms: u64) -> bool {
        self.cached.borrow().as_ref().is_some_and(|token| now_ms < after(token.issued, UPSTREAM_TOKEN_NEW_SECONDS))
    }

    /// Returns whether the client knows a token endpoint.
    pub(super) fn knows_endpoint(&self) -> bool {
        matches!(self.server.0, TokenEndpoint::Token(_)) || self.discovered.borrow().is_some()
    }

    /// Finds the token endpoint for an MCP server, if it is not configured.
    ///
    /// # Errors
    /// There is none that the client uses.
    pub(super) async fn discover(
        &self,
        documents: Documents<'_>,
        challenge: Option<&BearerChallenge>,
    ) -> Result<(), OAuthError> {
        let issuer = match &self.server.0 {
            TokenEndpoint::Token(_) => return Ok(()),
            TokenEndpoint::Issuer(issuer) => Some(&**issuer),
            TokenEndpoint::Any => None,
        };
        let issuers = match issuer.as_slice() {
            [] => Issuers::Any { preferred: None, trusted: &[] },
            named => Issuers::Named(named),
        };
        let discovered = Discovery::find(documents, challenge, issuers).await?;
        let method = self.authentication.method();
        if !discovered.server.supports(method) {
            return Err(OAuthError::UnsupportedAuthentication { method });
        }
        self.discovered.replace(Some(Rc::new(discovered)));
        Ok(())
    }

    /// Requests a token for an MCP server, and caches it.
    ///
    /// # Errors
    /// The authorization server issues none.
    pub(super) async fn request(
        &self,
        server: &ResourceServer,
        requests: Requests<'_>,
    ) -> Result<HeaderValue, OAuthError> {
        let discovered = self.discovered.borrow().clone();
        let token = match self.grant(server, discovered.as_deref(), requests).await {
            Ok(token) => token,
            Err(error) => {
                // The metadata may be out of date.
                self.discovered.take();
                return Err(error);
            }
        };
        let issued = requests.host.now_ms();
        let until = used_until(issued, token.lifetime(UPSTREAM_TOKEN_SECONDS));
        self.cached.replace(Some(Token { header: token.header.clone(), issued, until }));
        Ok(token.header)
    }

    async fn grant(
        &self,
        server: &ResourceServer,
        discovered: Option<&Discovery>,
        requests: Requests<'_>,
    ) -> Result<TokenResponse, OAuthError> {
        // A resource should not have a query (RFC 8707 §2).
        let own_url = server.resource.as_ref().map_or(server.url.without_query(), SecureUrl::as_str);
        let (endpoint, audience, resource, scopes) = match (&self.server.0, discovered) {
            (TokenEndpoint::Token(endpoint), _) => (endpoint, endpoint.as_str(), own_url, &[][..]),
            (_, Some(found)) => (&found.server.token_endpoint, &*found.server.issuer, &*found.resource, &*found.scopes),
            (_, None) => return Err(OAuthError::NoAuthorizationServer),
        };
        let scopes = if self.scopes.is_empty() { scopes } else { &self.scopes };
        let client = OAuthClient { authentication: &self.authentication, audience };
        client.token(endpoint, Grant::ClientCredentials { scopes }, resource, requests).await
    }
}

impl fmt::Debug for ClientCredentials {
    /// Writes the authorization server and the scopes, but neither the secret nor a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { server, scopes, .. } = self;
        f.debug_struct("ClientCredentials").field("server", server).field("scopes", scopes).finish_non_exhaustive()
    }
}
