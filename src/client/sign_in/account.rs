//! The tokens of one person for one server, in the store: read, refreshed and removed.
//!
//! Many authorization servers issue a new refresh token with each refresh, and revoke the access if an old one is used again. So only one
//! request at a time refreshes tokens: the one that has written a lease into the store.
//!
//! Sources: RFC 6749 §5.2 and §6; RFC 9700 §4.14; RFC 7009.

use std::time::Duration;

use futures::FutureExt;
use futures::channel::oneshot;

use super::sealed::Purpose;
use super::stored_tokens::StoredTokens;
use super::values::{Entry, Values};
use crate::auth::client_authentication::ClientAuthentication;
use crate::auth::principal::Principal;
use crate::call::failure;
use crate::client::oauth::error::OAuthError;
use crate::client::oauth::requests::Requests;
use crate::client::oauth::token_request::{Grant, OAuthClient};
use crate::client::oauth::token_response::after;
use crate::config::SecureUrl;
use crate::limits::{
    SIGN_IN_ENDED_SECONDS, SIGN_IN_KEEP_SECONDS, SIGN_IN_LEASE_SECONDS, SIGN_IN_LEASE_WAITS,
    UPSTREAM_NEGOTIATION_SECONDS,
};

/// The pause before tokens are read again that another request refreshes.
const PAUSE: Duration = Duration::from_millis(250);

/// Returns the text that identifies a person. Two issuers may use the same subject.
pub(super) fn person_key(person: &Principal) -> String {
    Purpose::Tokens.key(&[person.issuer.as_deref().unwrap_or_default(), &person.subject])
}

/// The tokens of a person for a server.
#[derive(Clone)]
pub(super) struct Account {
    pub values: Values,
    key: String,
}

/// The outcome of a refresh.
enum Refreshed {
    Tokens(Box<StoredTokens>),
    /// The person has to sign in again.
    Ended,
    /// The tokens changed meanwhile, or the lease has ended.
    Changed,
}

/// A lease in the store.
struct Lease {
    /// The encrypted text with the lease.
    sealed: String,
    /// The time at which another request may use the refresh token, in milliseconds since 1970.
    until: u64,
}

impl Account {
    /// Creates the account of `person`, which [`person_key`] returned, for the server at `url`.
    pub(super) fn new(values: Values, person: &str, url: &SecureUrl) -> Self {
        Self { values, key: Purpose::Tokens.key(&[person, url.as_str()]) }
    }

    /// Returns the stored tokens.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) async fn stored(&self) -> Result<Entry<StoredTokens>, OAuthError> {
        self.values.load(Purpose::Tokens, &self.key).await
    }

    /// Saves the tokens of a new sign-in, which replace all others.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(super) async fn save(&self, mut tokens: StoredTokens) -> Result<(), OAuthError> {
        const ATTEMPTS: usize = 8;
        let now = self.values.host.now_ms();
        for _ in 0..ATTEMPTS {
            let Entry { value: earlier, sealed } = self.stored().await?;
            tokens.sign_ins = earlier.map(|it| it.recent_sign_ins(&tokens.requested, now)).unwrap_or_default();
            tokens.sign_ins.push(now);
            if self.replace(sealed.as_deref(), &tokens).await?.is_some() {
                return Ok(());
            }
        }
        Err(OAuthError::StoreFailed { cause: "the tokens in the store change all the time".to_owned() })
    }

    async fn replace(&self, current: Option<&str>, tokens: &StoredTokens) -> Result<Option<String>, OAuthError> {
        let seconds = if tokens.has_ended { SIGN_IN_ENDED_SECONDS } else { SIGN_IN_KEEP_SECONDS };
        self.values.replace(Purpose::Tokens, &self.key, current, tokens, Duration::from_secs(seconds)).await
    }

    /// Returns tokens that can be used, or `None` if the person has to sign in. Tokens that expire soon are refreshed, and so are those with
    /// the header `rejected`.
    ///
    /// # Errors
    /// The store or the authorization server fails.
    pub(super) async fn usable(
        &self,
        rejected: Option<&str>,
        spend: &dyn Fn() -> bool,
    ) -> Result<Option<StoredTokens>, OAuthError> {
        for _ in 0..SIGN_IN_LEASE_WAITS {
            let Entry { value: Some(tokens), sealed } = self.stored().await? else { return Ok(None) };
            if tokens.has_ended {
                return Ok(None);
            }
            let now = self.values.host.now_ms();
            let is_rejected = rejected == Some(&tokens.authorization);
            if !is_rejected && now < tokens.used_until {
                return Ok(Some(tokens));
            }
            let is_left = !is_rejected && now < tokens.expires;
            let Some(refresh_token) = tokens.refresh_token.clone() else { return Ok(is_left.then_some(tokens)) };
            if tokens.lease.is_some_and(|until| now < until) {
                if is_left {
                    return Ok(Some(tokens));
                }
                self.values.host.sleep(PAUSE).await;
                continue;
            }
            // Without the request, the lease would only make others wait.
            if !spend() {
                return Err(OAuthError::BudgetExhausted);
            }
            let until = after(now, SIGN_IN_LEASE_SECONDS);
            let leased = StoredTokens { lease: Some(until), ..tokens.clone() };
            let Some(sealed) = self.replace(sealed.as_deref(), &leased).await? else { continue };
            match self.refreshed(tokens.clone(), refresh_token, Lease { sealed, until }).await {
                Ok(Refreshed::Tokens(tokens)) => return Ok(Some(*tokens)),
                Ok(Refreshed::Ended) => return Ok(None),
                Ok(Refreshed::Changed) => {}
                Err(error) if error.is_transient() && is_left => return Ok(Some(tokens)),
                Err(error) => return Err(error),
            }
        }
        Err(OAuthError::Unreachable {
            server: "its authorization server",
            cause: "another request refreshes the tokens, and does not end".to_owned(),
        })
    }

    /// Refreshes tokens in a task of its own: if the caller leaves in between, the new refresh token must still be saved.
    async fn refreshed(
        &self,
        tokens: StoredTokens,
        refresh_token: String,
        lease: Lease,
    ) -> Result<Refreshed, OAuthError> {
        let (sender, receiver) = oneshot::channel();
        let account = self.clone();
        let refresh = async move {
            // Without a receiver, the caller has left.
            drop(sender.send(account.refresh(tokens, &refresh_token, &lease).await));
        };
        self.values.host.spawn(refresh.boxed_local());
        let lost = OAuthError::StoreFailed { cause: "the refresh of a token was aborted".to_owned() };
        receiver.await.unwrap_or(Err(lost))
    }

    async fn refresh(&self, tokens: StoredTokens, refresh_token: &str, lease: &Lease) -> Result<Refreshed, OAuthError> {
        let leased = &*lease.sealed;
        let known = self.values.known_authentication(&tokens.issuer).await;
        // The store can be slow. When the request could outlive the lease, another request may use the refresh token as well.
        if after(self.values.host.now_ms(), UPSTREAM_NEGOTIATION_SECONDS) > lease.until {
            return Ok(Refreshed::Changed);
        }
        let outcome = match self.request(&tokens, refresh_token, known).await {
            Ok(Some(refreshed)) => {
                // The new token is saved before it is used.
                let is_saved = self.replace(Some(leased), &refreshed).await?.is_some();
                return Ok(if is_saved { Refreshed::Tokens(Box::new(refreshed)) } else { Refreshed::Changed });
            }
            Ok(None) => None,
            Err(error) if error.ends_access() => {
                let is_client = !error.is_reason("invalid_grant");
                if is_client && !self.values.forget_client(&tokens.issuer).await? {
                    // The operator has configured the client, so a new sign-in would fail too.
                    self.replace(Some(leased), &StoredTokens { lease: None, ..tokens }).await?;
                    return Err(error);
                }
                Some(error)
            }
            Err(error) => {
                self.replace(Some(leased), &StoredTokens { lease: None, ..tokens }).await?;
                return Err(error);
            }
        };
        if let Some(error) = outcome {
            failure::log(&self.values.host, "sign-in", &format!("the refresh of a token ended the access: {error}"));
        }
        let ended = StoredTokens { has_ended: true, lease: None, refresh_token: None, ..tokens };
        let is_saved = self.replace(Some(leased), &ended).await?.is_some();
        Ok(if is_saved { Refreshed::Ended } else { Refreshed::Changed })
    }

    /// Requests new tokens. Returns `None` if this program does not have the client any more that the tokens were issued to.
    async fn request(
        &self,
        tokens: &StoredTokens,
        refresh_token: &str,
        known: Result<Option<ClientAuthentication>, OAuthError>,
    ) -> Result<Option<StoredTokens>, OAuthError> {
        let issuer = &tokens.issuer;
        let Some(authentication) = known? else { return Ok(None) };
        let client = OAuthClient { authentication: &authentication, audience: &issuer.issuer };
        let requests = Requests { host: &*self.values.host, spend: &|| true };
        let (endpoint, grant) = (issuer.token_endpoint()?, Grant::RefreshToken(refresh_token));
        let response = client.token(&endpoint, grant, &issuer.resource, requests).await?;
        let StoredTokens { scopes, requested, sign_ins, .. } = tokens.clone();
        let refreshed = StoredTokens::issued(issuer.clone(), scopes, response, self.values.host.now_ms());
        Ok(Some(StoredTokens { requested, sign_ins, ..refreshed }))
    }

    /// Removes the tokens, and revokes them.
    ///
    /// # Errors
    /// The store cannot be written. The outcome of the revocation does not matter.
    pub(super) async fn forget(&self) -> Result<(), OAuthError> {
        let Entry { value, .. } = self.stored().await?;
        self.values.remove(&self.key).await?;
        let Some(tokens) = value else { return Ok(()) };
        if let Err(error) = self.revoke(&tokens).await {
            failure::log(&self.values.host, "sign-in", &format!("a token was not revoked: {error}"));
        }
        Ok(())
    }

    async fn revoke(&self, tokens: &StoredTokens) -> Result<(), OAuthError> {
        let issuer = &tokens.issuer;
        let (Some(endpoint), Some(refresh_token)) = (issuer.revocation_endpoint()?, &tokens.refresh_token) else {
            return Ok(());
        };
        let Some(authentication) = self.values.known_authentication(issuer).await? else { return Ok(()) };
        let client = OAuthClient { authentication: &authentication, audience: &issuer.issuer };
        let requests = Requests { host: &*self.values.host, spend: &|| true };
        client.revoke(&endpoint, refresh_token, requests).await
    }
}
