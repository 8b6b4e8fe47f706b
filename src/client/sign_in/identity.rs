//! The client id of this program for an authorization server: one that the operator registered, the URL of the metadata document, or one
//! that the authorization server issued. It is never sent to another authorization server.
//!
//! Sources: 2026-07-28, basic/authorization, "Client Registration Approaches"; RFC 7591 §3; RFC 6749 §2.3.1.

use super::own_client::OwnClient;
use super::settings::Settings;
use super::token_issuer::TokenIssuer;
use super::values::Values;
use crate::auth::client_authentication::ClientAuthentication;
use crate::client::oauth::discovery::Discovered;
use crate::client::oauth::error::OAuthError;
use crate::client::oauth::registration::Registered;
use crate::client::oauth::requests::Requests;
use crate::config::SecureUrl;

impl Values {
    /// Returns the authentication for a new sign-in to the server at `url`, with the client `own` of the operator if it is for this server. If
    /// there is no client id, this client registers itself, for these scopes.
    ///
    /// # Errors
    /// There is no client id for this authorization server, or the registration fails.
    pub(super) async fn new_authentication(
        &self,
        own: Option<&OwnClient>,
        url: &SecureUrl,
        found: &Discovered,
        scopes: &[String],
        requests: Requests<'_>,
    ) -> Result<ClientAuthentication, OAuthError> {
        let Settings { document, registers, .. } = &*self.settings;
        let server = found.server();
        if let Some(own) = own {
            let method = own.proof.method(server)?;
            let unsupported = OAuthError::UnsupportedAuthentication { method };
            return own.proof.authentication(&own.id, method).ok_or(unsupported);
        }
        if let (Some(document), true) = (document, server.reads_client_documents) {
            return Ok(ClientAuthentication::None(Some(document.as_str().to_owned())));
        }
        match &server.registration_endpoint {
            Some(endpoint) if *registers => {
                let registered = self.registered_client(url, found, endpoint, scopes, requests).await?;
                Ok(registered.authentication())
            }
            _ => Err(OAuthError::NoClientId),
        }
    }

    /// Returns the authentication of the client that a token was issued to, or `None` if this program does not know it now: another
    /// deployment or an old key may know it, so this is no reason to erase a token.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) async fn known_authentication(
        &self,
        issuer: &TokenIssuer,
    ) -> Result<Option<ClientAuthentication>, OAuthError> {
        let TokenIssuer { issuer: at, client_id: id, method, .. } = issuer;
        if let Some(own) = self.settings.own_client(at, id) {
            return Ok(own.proof.authentication(id, method));
        }
        if self.settings.is_document(id) {
            return Ok(Some(ClientAuthentication::None(Some(id.clone()))));
        }
        Ok(self.known_client(issuer).await?.map(Registered::authentication))
    }
}
