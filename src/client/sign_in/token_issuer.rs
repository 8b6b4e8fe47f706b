//! The authorization server that issues tokens, and the client that it issues them to.

use serde::{Deserialize, Serialize};

use crate::client::oauth::error::OAuthError;
use crate::config::SecureUrl;

/// The authorization server of a sign-in, and the client and the resource of its tokens.
///
/// It is kept with the state of the sign-in and with the tokens, so that nothing is discovered again: another authorization server cannot
/// take its place.
#[derive(Clone, Deserialize, Serialize)]
pub(super) struct TokenIssuer {
    pub issuer: String,
    pub token_endpoint: String,
    pub revocation_endpoint: Option<String>,
    /// The client id, and the method of authentication.
    pub client_id: String,
    pub method: String,
    /// The resource indicator.
    pub resource: String,
    /// The URL of the MCP server. A registered client is only for this server.
    pub server: String,
}

impl TokenIssuer {
    /// Returns the URL of the token endpoint.
    ///
    /// # Errors
    /// It is not valid. The rules for URLs have allowed it before it was kept.
    pub(super) fn token_endpoint(&self) -> Result<SecureUrl, OAuthError> {
        endpoint("token_endpoint", &self.token_endpoint)
    }

    /// Returns the URL of the revocation endpoint, if there is one.
    ///
    /// # Errors
    /// It is not valid.
    pub(super) fn revocation_endpoint(&self) -> Result<Option<SecureUrl>, OAuthError> {
        self.revocation_endpoint.as_ref().map(|url| endpoint("revocation_endpoint", url)).transpose()
    }
}

fn endpoint(member: &'static str, url: &str) -> Result<SecureUrl, OAuthError> {
    SecureUrl::parse(url).map_err(|problem| OAuthError::UnsafeUrl { member, problem })
}
