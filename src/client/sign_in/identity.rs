//! The client id of this program for an authorization server: one that the operator registered, the URL of the metadata document, or one
//! that the authorization server issued. It is never sent to another authorization server.
//!
//! Sources: 2026-07-28, basic/authorization, "Client Registration Approaches"; RFC 7591 §3; RFC 6749 §2.3.1.

use std::time::Duration;

use super::own_client::Proof;
use super::sealed::Purpose;
use super::settings::Settings;
use super::token_issuer::TokenIssuer;
use super::values::{Entry, Values};
use crate::auth::client_authentication::ClientAuthentication;
use crate::client::oauth::error::OAuthError;
use crate::client::oauth::registration::{Registered, Registration};
use crate::client::oauth::requests::Requests;
use crate::client::oauth::server_metadata::ServerMetadata;
use crate::client::oauth::token_response::after;
use crate::limits::{SIGN_IN_KEEP_SECONDS, UPSTREAM_TOKEN_EARLY_SECONDS};

/// The time for which the store keeps a client that is not used.
const KEEP: Duration = Duration::from_secs(SIGN_IN_KEEP_SECONDS);

impl Registered {
    /// Returns the authentication of this client.
    fn authentication(self) -> ClientAuthentication {
        let proof = self.client_secret.map_or(Proof::None, Proof::Secret);
        let known = proof.authentication(&self.client_id, &self.method);
        known.unwrap_or(ClientAuthentication::None(Some(self.client_id)))
    }
}

impl Values {
    /// Returns the authentication for a new sign-in. If there is no client id, this client registers itself, for these scopes.
    ///
    /// # Errors
    /// There is no client id for this authorization server, or the registration fails.
    pub(super) async fn new_authentication(
        &self,
        server: &ServerMetadata,
        scopes: &[String],
        requests: Requests<'_>,
    ) -> Result<ClientAuthentication, OAuthError> {
        let Settings { clients, document, registers, .. } = &*self.settings;
        if let Some(own) = clients.iter().find(|own| own.issuer == server.issuer) {
            let method = own.proof.method(server)?;
            let unsupported = OAuthError::UnsupportedAuthentication { method };
            return own.proof.authentication(&own.id, method).ok_or(unsupported);
        }
        if let (Some(document), true) = (document, server.reads_client_documents) {
            return Ok(ClientAuthentication::None(Some(document.as_str().to_owned())));
        }
        match &server.registration_endpoint {
            Some(endpoint) if *registers => {
                let key = self.client_key(&server.issuer);
                let entry = self.load::<Registered>(Purpose::Client, &key).await?;
                let soon = after(self.host.now_ms(), UPSTREAM_TOKEN_EARLY_SECONDS);
                let is_valid = |known: &Registered| known.expires_ms.is_none_or(|expires| soon < expires);
                if entry.value.as_ref().is_some_and(is_valid) {
                    self.renew(Purpose::Client, &key, &entry, KEEP).await;
                }
                let Entry { value: known, sealed, .. } = entry;
                if let Some(known) = known.filter(is_valid) {
                    return Ok(known.authentication());
                }
                let registration = Registration {
                    client_name: &self.settings.name,
                    redirect_uri: &self.settings.redirect_uri(),
                    scopes,
                };
                let issued = registration.register(endpoint, server, requests).await?;
                if self.replace(Purpose::Client, &key, sealed.as_deref(), &issued, KEEP).await?.is_some() {
                    return Ok(issued.authentication());
                }
                // Another request has registered the client at the same time. Its client id counts, so that the tokens of both can be refreshed.
                Ok(self.load(Purpose::Client, &key).await?.value.unwrap_or(issued).authentication())
            }
            _ if !clients.is_empty() && document.is_none() => Err(OAuthError::WrongIssuer),
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
        let TokenIssuer { issuer, client_id: id, method, .. } = issuer;
        let Settings { clients, document, .. } = &*self.settings;
        if let Some(own) = clients.iter().find(|own| own.issuer == *issuer && own.id == *id) {
            return Ok(own.proof.authentication(id, method));
        }
        if document.as_ref().is_some_and(|document| document.as_str() == *id) {
            return Ok(Some(ClientAuthentication::None(Some(id.to_owned()))));
        }
        let key = self.client_key(issuer);
        let entry = self.load::<Registered>(Purpose::Client, &key).await?;
        if entry.value.as_ref().is_none_or(|known| known.client_id != *id) {
            return Ok(None);
        }
        self.renew(Purpose::Client, &key, &entry, KEEP).await;
        Ok(entry.value.map(Registered::authentication))
    }

    /// Forgets the client that an authorization server issued, because the authorization server does not know it any more. Returns whether
    /// there was one.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(super) async fn forget_client(&self, issuer: &TokenIssuer) -> Result<bool, OAuthError> {
        let key = self.client_key(&issuer.issuer);
        let is_known = self
            .load::<Registered>(Purpose::Client, &key)
            .await?
            .value
            .is_some_and(|known| known.client_id == issuer.client_id);
        if is_known {
            self.remove(&key).await?;
        }
        Ok(is_known)
    }

    fn client_key(&self, issuer: &str) -> String {
        Purpose::Client.key(&[issuer, &self.settings.redirect_uri()])
    }
}
