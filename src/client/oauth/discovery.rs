//! The discovery of the authorization server of an MCP server.
//!
//! Source: 2026-07-28, basic/authorization, "Authorization Server Discovery" and "Scope Selection Strategy".

use super::authorization_request::OFFLINE_ACCESS;
use super::error::OAuthError;
use super::requests::Requests;
use super::resource_metadata::ResourceMetadata;
use super::server_metadata::ServerMetadata;
use crate::client::wire::challenge::{Challenge, SCOPES, add_scopes, is_scope};
use crate::config::SecureUrl;

/// The authorization server of an MCP server, and the parameters of requests for its tokens.
#[derive(Debug)]
pub(in crate::client) struct Discovered {
    server: ServerMetadata,
    resource: String,
    scopes: Vec<String>,
    /// The scopes in the metadata of the MCP server.
    supported: Vec<String>,
}

/// The authorization server to choose from those that an MCP server names.
#[derive(Clone, Copy)]
pub(in crate::client) enum Issuer<'a> {
    /// The one with this issuer.
    Only(&'a str),
    /// The first of these that the MCP server names, or the first one that it names.
    Preferred(&'a [String]),
}

impl Issuer<'_> {
    fn choose(self, named: &[String]) -> Result<&String, OAuthError> {
        match self {
            Self::Only(only) => named.iter().find(|issuer| *issuer == only).ok_or(OAuthError::WrongIssuer),
            Self::Preferred(preferred) => {
                let known = preferred.iter().find_map(|issuer| named.iter().find(|named| *named == issuer));
                known.or_else(|| named.first()).ok_or(OAuthError::NoAuthorizationServer)
            }
        }
    }
}

impl Discovered {
    /// Finds the authorization server of the MCP server at `url`.
    ///
    /// # Errors
    /// There is none that the client uses.
    pub(in crate::client) async fn find(
        url: &SecureUrl,
        challenge: Option<&Challenge>,
        issuer: Issuer<'_>,
        requests: Requests<'_>,
    ) -> Result<Self, OAuthError> {
        let (metadata, is_own_issuer) = match ResourceMetadata::fetch(url, challenge, requests).await {
            Err(OAuthError::NoResourceMetadata) => (ResourceMetadata::of_own_issuer(url), true),
            fetched => (fetched?, false),
        };
        // If neither server has metadata, the error is about the metadata of the MCP server.
        let unnamed = |error| match error {
            OAuthError::WrongIssuer | OAuthError::NoServerMetadata if is_own_issuer => OAuthError::NoResourceMetadata,
            error => error,
        };
        let issuer = issuer.choose(&metadata.authorization_servers).map_err(unnamed)?;
        let server = ServerMetadata::fetch(issuer, url, requests).await.map_err(unnamed)?;
        let mut supported = metadata.scopes_supported;
        supported.retain(|scope| is_scope(scope));
        supported.truncate(SCOPES);
        let challenged = challenge.map(Challenge::scopes).unwrap_or_default();
        let scopes = if challenged.is_empty() { supported.clone() } else { challenged };
        Ok(Self { server, resource: metadata.resource, scopes, supported })
    }

    pub(in crate::client) fn server(&self) -> &ServerMetadata {
        &self.server
    }

    /// Returns the resource indicator (RFC 8707), as the MCP server writes it.
    pub(in crate::client) fn resource(&self) -> &str {
        &self.resource
    }

    /// Returns the scopes of the challenge or, without them, those of the metadata of the MCP server.
    pub(in crate::client) fn scopes(&self) -> &[String] {
        &self.scopes
    }

    /// Returns the scopes for a registration of a client that requests these scopes: all that it may request later, because many
    /// authorization servers grant a client no others.
    pub(in crate::client) fn registered_scopes(&self, requested: &[String]) -> Vec<String> {
        let mut scopes = requested.to_vec();
        if scopes.is_empty() {
            return scopes;
        }
        let offline_access = OFFLINE_ACCESS.to_owned();
        let offline_access = self.server.has_scope(OFFLINE_ACCESS).then_some(&offline_access);
        add_scopes(&mut scopes, self.supported.iter().chain(offline_access));
        scopes
    }

    /// Checks that the token endpoint supports a method of client authentication.
    ///
    /// # Errors
    /// It does not.
    pub(in crate::client) fn check_authentication(&self, method: &'static str) -> Result<(), OAuthError> {
        if self.server.supports(method) { Ok(()) } else { Err(OAuthError::UnsupportedAuthentication { method }) }
    }
}
