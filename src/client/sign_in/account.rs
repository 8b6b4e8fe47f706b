//! The tokens of one person for one server, in the store: read, refreshed and removed.
//!
//! Many authorization servers issue a new refresh token with each refresh, and revoke the access if an old one is used again. So only one
//! request at a time refreshes tokens: the one that has written a lease into the store.
//!
//! Sources: RFC 6749 §5.2 and §6; RFC 9700 §4.14; RFC 7009.

use std::time::Duration;

use futures::FutureExt;
use futures::channel::oneshot;

use super::sealed::SealPurpose;
use super::stored_tokens::StoredTokens;
use super::values::{StoreEntry, Values};
use crate::auth::client_authentication::ClientAuthentication;
use crate::auth::principal::Principal;
use crate::client::oauth::documents::Requests;
use crate::client::oauth::error::OAuthError;
use crate::client::oauth::token_request::{Grant, OAuthClient};
use crate::client::oauth::token_response::after;
use crate::config::SecureUrl;
use crate::host::log;
use crate::limits::{
    SIGN_IN_ENDED_SECONDS, SIGN_IN_KEEP_SECONDS, SIGN_IN_LEASE_SECONDS, SIGN_IN_LEASE_WAITS,
    UPSTREAM_NEGOTIATION_SECONDS,
};

/// The pause before tokens are read again that another request refreshes, or before they are written again.
const PAUSE: Duration = Duration::from_millis(250);
/// The time for which the store keeps tokens that are not used.
const KEEP: Duration = Duration::from_secs(SIGN_IN_KEEP_SECONDS);
/// How often tokens are replaced that other requests change at the same time.
const ATTEMPTS: usize = 8;

// A request waits for a lease to its end.
const _: () = assert!(SIGN_IN_LEASE_WAITS as u128 * PAUSE.as_millis() > SIGN_IN_LEASE_SECONDS as u128 * 1000);

/// Returns the text that identifies a person. Two issuers may use the same subject.
pub(super) fn person_key(person: &Principal) -> String {
    SealPurpose::Tokens.key(&[&person.person()])
}

/// The tokens of a person for a server.
#[derive(Clone)]
pub(super) struct Account {
    pub values: Values,
    key: String,
}

/// The outcome of a refresh.
enum RefreshOutcome {
    Tokens(Box<StoredTokens>),
    /// The authorization server has ended the access. The person has to sign in again.
    Ended,
    /// There is no refresh token, or this program does not know its client now. The stored tokens stay as they are.
    Impossible,
    /// The tokens changed meanwhile, or the lease has ended.
    Changed,
}

impl Account {
    /// Creates the account of `person`, which [`person_key`] returned, for the server at `url`.
    pub(super) fn new(values: Values, person: &str, url: &SecureUrl) -> Self {
        Self { values, key: SealPurpose::Tokens.key(&[person, url.as_str()]) }
    }

    /// Returns the stored tokens.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) async fn stored(&self) -> Result<StoreEntry<StoredTokens>, OAuthError> {
        self.values.load(SealPurpose::Tokens, &self.key).await
    }

    /// Saves the tokens of a new sign-in, which replace all others, and revokes the replaced ones. Tokens that cannot be saved are revoked.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(super) async fn save(&self, tokens: StoredTokens) -> Result<(), OAuthError> {
        let saved = self.replace_all(tokens.clone()).await;
        let account = self.clone();
        // The browser does not wait for the revocation.
        let (saved, revocation) = match saved {
            Ok(None) => return Ok(()),
            Ok(Some(earlier)) => (Ok(()), async move { account.revoke(&earlier, Some(&tokens)).await }.boxed_local()),
            Err(error) => (Err(error), async move { account.revoke(&tokens, None).await }.boxed_local()),
        };
        self.values.host.spawn(revocation);
        saved
    }

    /// Replaces the tokens in the store, whatever they are, and returns them.
    async fn replace_all(&self, mut tokens: StoredTokens) -> Result<Option<StoredTokens>, OAuthError> {
        let now = self.values.host.now_ms();
        for _ in 0..ATTEMPTS {
            let StoreEntry { value: earlier, sealed, .. } = self.stored().await?;
            let sign_ins = earlier.as_ref().map(|it| it.recent_sign_ins(&tokens.requested, now));
            tokens.sign_ins = sign_ins.unwrap_or_default();
            tokens.sign_ins.push(now);
            if self.replace(sealed.as_deref(), &tokens).await?.is_some() {
                return Ok(earlier);
            }
        }
        Err(changes_all_the_time())
    }

    async fn replace(&self, current: Option<&str>, tokens: &StoredTokens) -> Result<Option<String>, OAuthError> {
        let keep = if tokens.has_ended { Duration::from_secs(SIGN_IN_ENDED_SECONDS) } else { KEEP };
        self.values.replace(SealPurpose::Tokens, &self.key, current, tokens, keep).await
    }

    /// Returns tokens that can be used, or `None` if the person has to sign in. Tokens that expire soon are refreshed, and so are those with
    /// the header `rejected`. While a token is valid, it is used although its refresh fails.
    ///
    /// # Errors
    /// The store cannot be read, or there is no valid token and the refresh fails.
    pub(super) async fn usable(
        &self,
        rejected: Option<&str>,
        spend: &dyn Fn() -> bool,
    ) -> Result<Option<StoredTokens>, OAuthError> {
        for _ in 0..SIGN_IN_LEASE_WAITS {
            let entry = self.stored().await?;
            let Some(tokens) = &entry.value else { return Ok(None) };
            if tokens.has_ended {
                return Ok(None);
            }
            let now = self.values.host.now_ms();
            let is_rejected = rejected == Some(&tokens.authorization);
            let is_leased = tokens.lease.is_some_and(|until| now < until);
            if !is_rejected && now < tokens.used_until {
                // A new text would end the lease of another request.
                if !is_leased {
                    self.values.renew(SealPurpose::Tokens, &self.key, &entry, KEEP).await;
                }
                return Ok(entry.value);
            }
            let is_valid = !is_rejected && now < tokens.expires;
            if is_leased {
                if is_valid {
                    return Ok(entry.value);
                }
                self.values.host.sleep(PAUSE).await;
                continue;
            }
            match self.refreshed(tokens, entry.sealed.as_deref(), spend).await {
                Ok(RefreshOutcome::Tokens(tokens)) => return Ok(Some(*tokens)),
                Ok(RefreshOutcome::Ended) => return Ok(None),
                Ok(RefreshOutcome::Impossible) => return Ok(entry.value.filter(|_| is_valid)),
                Ok(RefreshOutcome::Changed) => {}
                Err(error) if is_valid => {
                    let problem = format!("a token that is still valid was not refreshed: {error} ({})", error.cause());
                    log::failure(&self.values.host, "sign-in", &problem);
                    return Ok(entry.value);
                }
                Err(error) => return Err(error),
            }
        }
        Err(OAuthError::RefreshPending)
    }

    /// Takes a lease, and refreshes tokens.
    async fn refreshed(
        &self,
        tokens: &StoredTokens,
        sealed: Option<&str>,
        spend: &dyn Fn() -> bool,
    ) -> Result<RefreshOutcome, OAuthError> {
        let Some(refresh_token) = tokens.refresh_token.clone() else { return Ok(RefreshOutcome::Impossible) };
        let Some(client) = self.values.known_authentication(&tokens.issuer).await? else {
            let problem = "a token was not refreshed, because this program does not know the client that it was issued to: \
                           check the clients of `SignIn`, its URL, and MCP_TOKEN_KEY";
            log::failure(&self.values.host, "sign-in", problem);
            return Ok(RefreshOutcome::Impossible);
        };
        // Without the request, the lease would only make others wait.
        if !spend() {
            return Err(OAuthError::BudgetExhausted);
        }
        let until = after(self.values.host.now_ms(), SIGN_IN_LEASE_SECONDS);
        let leased = StoredTokens { lease: Some(until), ..tokens.clone() };
        let Some(sealed) = self.replace(sealed, &leased).await? else { return Ok(RefreshOutcome::Changed) };
        let (account, tokens) = (self.clone(), tokens.clone());
        let refresh = LeasedRefresh { account, tokens, client, refresh_token, sealed, until };
        // If the caller leaves in between, the new refresh token must still be saved.
        let (sender, receiver) = oneshot::channel();
        let refresh = async move {
            // Without a receiver, the caller has left.
            drop(sender.send(refresh.run().await));
        };
        self.values.host.spawn(refresh.boxed_local());
        let lost = OAuthError::StoreFailed { cause: "the refresh of a token was aborted".to_owned() };
        receiver.await.unwrap_or(Err(lost))
    }

    /// Removes the tokens, and revokes them.
    ///
    /// # Errors
    /// The store cannot be written. The outcome of the revocation does not matter.
    pub(super) async fn forget(&self) -> Result<(), OAuthError> {
        for _ in 0..ATTEMPTS {
            let StoreEntry { value, sealed, .. } = self.stored().await?;
            let Some(tokens) = value else { return self.values.remove(&self.key).await };
            // A refresh at the same time cannot save its tokens any more, so it revokes them. If this write seems to fail, the next attempt
            // needs the refresh token.
            if self.replace(sealed.as_deref(), &tokens.clone().ended()).await?.is_some() {
                let removed = self.values.remove(&self.key).await;
                self.revoke(&tokens, None).await;
                removed?;
                return self.values.client_is_in_doubt(&tokens.issuer).await;
            }
        }
        Err(changes_all_the_time())
    }

    /// Revokes tokens that are not used any more: the refresh token, and with it the access, or else the access token. If the tokens `kept`
    /// have the same refresh token, it stays valid. A failure is logged.
    async fn revoke(&self, tokens: &StoredTokens, kept: Option<&StoredTokens>) {
        let is_kept = kept.is_some_and(|kept| kept.has_a_token_of(tokens));
        let is_over = tokens.has_ended && tokens.refresh_token.is_none();
        if is_over || is_kept {
            return;
        }
        if let Err(error) = self.request_revocation(tokens).await {
            let problem = format!("a token was not revoked: {error} ({})", error.cause());
            log::failure(&self.values.host, "sign-in", &problem);
        }
    }

    async fn request_revocation(&self, tokens: &StoredTokens) -> Result<(), OAuthError> {
        let issuer = &tokens.issuer;
        let Some(endpoint) = issuer.revocation_endpoint()? else { return Ok(()) };
        let client = self.values.known_authentication(issuer).await?.ok_or(OAuthError::NoClientId)?;
        let access_token = tokens.authorization.strip_prefix("Bearer ").unwrap_or_default();
        let refresh_token = tokens.refresh_token.as_deref().map(|token| ("refresh_token", token));
        let (kind, token) = refresh_token.unwrap_or(("access_token", access_token));
        let client = OAuthClient { authentication: &client, audience: &issuer.issuer };
        client.revoke(&endpoint, kind, token, Requests { host: &self.values.host, spend: &|| true }).await
    }
}

fn changes_all_the_time() -> OAuthError {
    OAuthError::StoreFailed { cause: "the tokens in the store change all the time".to_owned() }
}

/// A refresh of tokens, under a lease.
struct LeasedRefresh {
    account: Account,
    tokens: StoredTokens,
    /// The client that the tokens were issued to.
    client: ClientAuthentication,
    refresh_token: String,
    /// The encrypted text with the lease.
    sealed: String,
    /// The time at which another request may use the refresh token, in milliseconds since 1970.
    until: u64,
}

impl LeasedRefresh {
    async fn run(self) -> Result<RefreshOutcome, OAuthError> {
        let host = &self.account.values.host;
        // The store can be slow. When the request could outlive the lease, another request may use the refresh token as well.
        if after(host.now_ms(), UPSTREAM_NEGOTIATION_SECONDS) > self.until {
            return Ok(RefreshOutcome::Changed);
        }
        let error = match self.request().await {
            Ok(refreshed) => return self.save(refreshed).await,
            Err(error) => error,
        };
        // If the operator has configured the client, a new sign-in would fail too.
        let has_ended = error.ends_access()
            && (error.is_reason("invalid_grant") || self.account.values.forget_client(&self.tokens.issuer).await?);
        if !has_ended {
            self.replace(&StoredTokens { lease: None, ..self.tokens.clone() }).await?;
            return Err(error);
        }
        let problem = format!("the refresh of a token ended the access: {error} ({})", error.cause());
        log::failure(host, "sign-in", &problem);
        let ended = StoredTokens { refresh_token: None, ..self.tokens.clone().ended() };
        let is_saved = self.replace(&ended).await?.is_some();
        Ok(if is_saved { RefreshOutcome::Ended } else { RefreshOutcome::Changed })
    }

    /// Replaces the tokens in the store, if they still have the lease.
    async fn replace(&self, tokens: &StoredTokens) -> Result<Option<String>, OAuthError> {
        self.account.replace(Some(&self.sealed), tokens).await
    }

    /// Requests new tokens.
    async fn request(&self) -> Result<StoredTokens, OAuthError> {
        let host = &self.account.values.host;
        let StoredTokens { issuer, scopes, requested, sign_ins, .. } = self.tokens.clone();
        let client = OAuthClient { authentication: &self.client, audience: &issuer.issuer };
        let (endpoint, grant) = (issuer.token_endpoint()?, Grant::RefreshToken(&self.refresh_token));
        let response = client.token(&endpoint, grant, &issuer.resource, Requests { host, spend: &|| true }).await?;
        let refreshed = StoredTokens::issued(issuer, scopes, response, host.now_ms());
        Ok(StoredTokens { requested, sign_ins, ..refreshed })
    }

    /// Saves new tokens, before they are used. The old refresh token may not be valid any more, so a write that fails is repeated until the
    /// lease ends.
    async fn save(&self, refreshed: StoredTokens) -> Result<RefreshOutcome, OAuthError> {
        let host = &self.account.values.host;
        loop {
            match self.replace(&refreshed).await {
                Ok(Some(_)) => return Ok(RefreshOutcome::Tokens(Box::new(refreshed))),
                Ok(None) => return self.overtaken(refreshed).await,
                Err(error) if host.now_ms() >= self.until => {
                    log::failure(host, "sign-in", &format!("refreshed tokens are lost: {}", error.cause()));
                    return Err(error);
                }
                Err(_) => host.sleep(PAUSE).await,
            }
        }
    }

    /// Returns the outcome for new tokens that were not saved, because the stored ones are not those with the lease any more. They are
    /// revoked if the store has no tokens of this sign-in.
    async fn overtaken(&self, refreshed: StoredTokens) -> Result<RefreshOutcome, OAuthError> {
        let StoreEntry { value: stored, sealed, .. } = self.account.stored().await?;
        match &stored {
            // An earlier write has succeeded, although its answer was an error.
            Some(stored) if stored.authorization == refreshed.authorization => {
                return Ok(RefreshOutcome::Tokens(Box::new(refreshed)));
            }
            // An authorization server may take both refresh tokens for one access, so a revocation would also end the stored one.
            Some(stored) if !stored.has_ended && stored.is_of_sign_in_of(&refreshed) => {}
            // A value that cannot be decrypted says nothing.
            None if sealed.is_some() => {}
            _ => self.account.revoke(&refreshed, stored.as_ref()).await,
        }
        Ok(RefreshOutcome::Changed)
    }
}
