//! The discovery of the authorization server of an MCP server.
//!
//! Source: 2026-07-28, basic/authorization, "Authorization Server Discovery" and "Scope Selection Strategy".

use super::authorization_request::OFFLINE_ACCESS;
use super::documents::Documents;
use super::error::OAuthError;
use super::resource_metadata::ResourceMetadata;
use super::server_metadata::ServerMetadata;
use crate::client::wire::challenge::{BearerChallenge, SCOPES, add_scopes, is_scope};

/// The authorization server of an MCP server, and the parameters of requests for its tokens.
#[derive(Debug)]
pub(in crate::client) struct Discovery {
    pub server: ServerMetadata,
    /// The resource indicator (RFC 8707), as the program names it, or else as the MCP server writes it.
    pub resource: String,
    /// The scopes of the challenge or, without them, those of the metadata of the MCP server.
    pub scopes: Vec<String>,
    /// The scopes in the metadata of the MCP server.
    supported: Vec<String>,
}

/// The authorization servers that a client uses, of those that an MCP server names.
#[derive(Clone, Copy)]
pub(in crate::client) enum Issuers<'a> {
    /// The first of these that the MCP server names. The operator has named them.
    Named(&'a [&'a str]),
    /// `preferred` if the MCP server names it, or else the first one that it names. The operator has named those in `trusted`.
    Any { preferred: Option<&'a str>, trusted: &'a [String] },
}

impl Issuers<'_> {
    fn choose(self, named: &[String]) -> Result<&String, OAuthError> {
        match self {
            Self::Named(own) => {
                named.iter().find(|issuer| own.contains(&issuer.as_str())).ok_or(OAuthError::WrongIssuer)
            }
            Self::Any { preferred, .. } => {
                let known = named.iter().find(|issuer| Some(issuer.as_str()) == preferred);
                known.or_else(|| named.first()).ok_or(OAuthError::NoAuthorizationServer)
            }
        }
    }

    /// Returns whether the operator has named this issuer.
    fn trusts(self, issuer: &String) -> bool {
        match self {
            Self::Named(_) => true,
            Self::Any { trusted, .. } => trusted.contains(issuer),
        }
    }
}

impl Discovery {
    /// Finds the authorization server of an MCP server.
    ///
    /// # Errors
    /// There is none that the client uses.
    pub(in crate::client) async fn find(
        documents: Documents<'_>,
        challenge: Option<&BearerChallenge>,
        issuers: Issuers<'_>,
    ) -> Result<Self, OAuthError> {
        let (metadata, is_own_issuer) = match ResourceMetadata::fetch(documents, challenge).await {
            Err(OAuthError::NoResourceMetadata) => (ResourceMetadata::of_own_issuer(&documents.server.url), true),
            fetched => (fetched?, false),
        };
        // If neither server has metadata, the error is about the metadata of the MCP server.
        let unnamed = |error| match error {
            OAuthError::WrongIssuer | OAuthError::NoServerMetadata if is_own_issuer => OAuthError::NoResourceMetadata,
            error => error,
        };
        let issuer = issuers.choose(&metadata.authorization_servers).map_err(unnamed)?;
        let server = ServerMetadata::fetch(issuer, issuers.trusts(issuer), documents).await.map_err(unnamed)?;
        let mut supported = metadata.scopes_supported;
        supported.retain(|scope| is_scope(scope));
        supported.truncate(SCOPES);
        let challenged = challenge.map(BearerChallenge::scopes).unwrap_or_default();
        let scopes = if challenged.is_empty() { supported.clone() } else { challenged };
        let named = documents.server.resource.as_ref().map(|resource| resource.as_str().to_owned());
        Ok(Self { server, resource: named.unwrap_or(metadata.resource), scopes, supported })
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
}
