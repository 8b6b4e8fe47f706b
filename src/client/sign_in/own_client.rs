//! A client that the operator registered at an authorization server, and the proof by which a client authenticates.
//!
//! Source: RFC 6749 §2.3.1; RFC 7591 §2 for the names of the methods.

use std::fmt;
use std::rc::Rc;

use crate::auth::client_assertion::{SignedAssertion, SigningKey};
use crate::auth::client_authentication::{Assertion, ClientAuthentication};
use crate::client::oauth::error::OAuthError;
use crate::client::oauth::registration::RegisteredClient;
use crate::client::oauth::server_metadata::ServerMetadata;

/// A client that you registered at an authorization server, and the servers for which it is used.
///
/// The client, and the tokens that it gets, are only for the servers that [`server`](Self::server) names. Another server of the program
/// cannot use it, even if it names the same authorization server. An [untrusted](crate::client::Upstream::untrusted) server never uses it.
///
/// ```
/// use edge_mcp::client::OwnClient;
///
/// let secret = std::env::var("SECRET").unwrap_or_default();
/// let desk = OwnClient::new("https://auth.example.com", "desk").secret(&secret).server("tracker", ["issues:read"]);
/// ```
#[derive(Clone)]
#[must_use]
pub struct OwnClient {
    pub(super) issuer: String,
    pub(super) id: String,
    pub(super) proof: Proof,
    /// The names of the servers, and the scopes that the client may request for each.
    servers: Vec<(String, Vec<String>)>,
}

impl OwnClient {
    /// Creates a public client of the authorization server `issuer`, which is spelled exactly as the authorization server spells it.
    pub fn new(issuer: &str, id: &str) -> Self {
        Self { issuer: issuer.to_owned(), id: id.to_owned(), proof: Proof::None, servers: Vec::new() }
    }

    /// Sets the secret of the client. Only the token endpoint and the revocation endpoint of the issuer get it.
    pub fn secret(self, secret: &str) -> Self {
        Self { proof: Proof::Secret(secret.to_owned()), ..self }
    }

    /// Sets the private key of the client. The client authenticates with assertions that it signs with this key (`private_key_jwt`).
    pub fn key(self, key: SigningKey) -> Self {
        let proof = Proof::Assertion(Rc::new(SignedAssertion::new(&self.id, key)));
        Self { proof, ..self }
    }

    /// Uses the client for the server with this name in the [`McpClient`](crate::client::McpClient), and requests no other scopes than these.
    ///
    /// If the server names none of these scopes, all of them are requested. If there are none, the authorization server chooses. If the
    /// authorization server has the scope `offline_access`, it is requested too, because it gives a refresh token.
    pub fn server(mut self, name: &str, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.servers.push((name.to_owned(), scopes.into_iter().map(Into::into).collect()));
        self
    }

    /// Returns the scopes that the client may request for a server, or `None` if it is not for this server.
    pub(super) fn scopes_for(&self, server: &str) -> Option<&[String]> {
        self.servers.iter().find(|(name, _)| name == server).map(|(_, scopes)| &**scopes)
    }
}

impl fmt::Debug for OwnClient {
    /// Writes the issuer, the client id and the servers, but no secret and no key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { issuer, id, servers, .. } = self;
        let mut debug = f.debug_struct("OwnClient");
        debug.field("issuer", issuer).field("id", id).field("servers", servers).finish_non_exhaustive()
    }
}

/// The proof by which a client authenticates.
#[derive(Clone)]
pub(super) enum Proof {
    None,
    Secret(String),
    Assertion(Rc<dyn Assertion>),
}

impl Proof {
    /// Returns the authentication of the client `id` by a method, or `None` if the proof is not for this method.
    pub(super) fn authentication(&self, id: &str, method: &str) -> Option<ClientAuthentication> {
        let id = id.to_owned();
        match (method, self) {
            ("none", _) => Some(ClientAuthentication::None(Some(id))),
            ("client_secret_basic", Self::Secret(secret)) => Some(ClientAuthentication::Basic(id, secret.clone())),
            ("client_secret_post", Self::Secret(secret)) => Some(ClientAuthentication::Post(id, secret.clone())),
            ("private_key_jwt", Self::Assertion(assertion)) => {
                Some(ClientAuthentication::PrivateKeyJwt(assertion.clone()))
            }
            _ => None,
        }
    }

    /// Returns the method of authentication at a token endpoint.
    pub(super) fn method(&self, server: &ServerMetadata) -> Result<&'static str, OAuthError> {
        let methods: &[&str] = match self {
            Self::None => return Ok("none"),
            Self::Secret(_) => &["client_secret_basic", "client_secret_post"],
            Self::Assertion(_) => &["private_key_jwt"],
        };
        let unsupported =
            || OAuthError::UnsupportedAuthentication { method: methods.first().copied().unwrap_or("none") };
        methods.iter().copied().find(|method| server.supports(method)).ok_or_else(unsupported)
    }
}

impl RegisteredClient {
    /// Returns the authentication of this client.
    pub(super) fn authentication(self) -> ClientAuthentication {
        let proof = self.client_secret.map_or(Proof::None, Proof::Secret);
        let known = proof.authentication(&self.client_id, &self.method);
        known.unwrap_or(ClientAuthentication::None(Some(self.client_id)))
    }
}
