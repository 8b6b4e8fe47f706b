//! The clients that authorization servers have registered for this program, in the store. Each is for one authorization server and one MCP
//! server.
//!
//! An authorization server that has forgotten a client shows an error page, and does not send the browser back (RFC 6749 §4.1.2.1). So if the
//! last sign-in has not ended, this program asks the authorization server whether it knows the client. It also counts the sign-ins that do
//! not end. Earlier clients are kept, because tokens were issued to them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::sealed::Purpose;
use super::token_issuer::TokenIssuer;
use super::values::{Entry, Values};
use crate::client::oauth::discovery::Discovered;
use crate::client::oauth::error::OAuthError;
use crate::client::oauth::pkce::random_text;
use crate::client::oauth::registration::{Registered, Registration};
use crate::client::oauth::requests::Requests;
use crate::client::oauth::token_request::{Grant, OAuthClient};
use crate::client::oauth::token_response::after;
use crate::client::wire::challenge::{SCOPES, add_scopes};
use crate::config::SecureUrl;
use crate::host::log;
use crate::limits::{
    SIGN_IN_KEEP_SECONDS, SIGN_IN_REGISTRATIONS, SIGN_IN_SECONDS, SIGN_IN_UNFINISHED, UPSTREAM_TOKEN_EARLY_SECONDS,
};

/// The time for which the store keeps clients that are not used.
const KEEP: Duration = Duration::from_secs(SIGN_IN_KEEP_SECONDS);

/// The registered clients, the newest first.
#[derive(Default, Deserialize, Serialize)]
struct Registrations {
    clients: Vec<Known>,
}

/// A registered client, and what this program knows about it.
#[derive(Deserialize, Serialize)]
struct Known {
    client: Registered,
    /// The scopes for which it was registered.
    scopes: Vec<String>,
    /// The sign-ins that have begun since one has ended, and the time of the first of them, in milliseconds since 1970.
    unfinished: usize,
    since: u64,
    /// Whether the authorization server has issued tokens to it.
    has_tokens: bool,
}

impl Known {
    fn new(client: Registered, scopes: Vec<String>) -> Self {
        Self { client, scopes, unfinished: 0, since: 0, has_tokens: false }
    }

    /// Returns whether the authorization server may have forgotten the client.
    fn is_in_doubt(&self) -> bool {
        self.unfinished > 0
    }

    /// Returns whether a sign-in for these scopes can use the client.
    fn is_usable(&self, scopes: &[String], now_ms: u64) -> bool {
        let soon = after(now_ms, UPSTREAM_TOKEN_EARLY_SECONDS);
        let is_valid = self.client.expires_ms.is_none_or(|expires| soon < expires);
        // A sign-in that began within this time can still end.
        let is_forgotten = self.unfinished >= SIGN_IN_UNFINISHED && now_ms >= after(self.since, SIGN_IN_SECONDS);
        is_valid && !is_forgotten && scopes.iter().all(|scope| self.scopes.contains(scope))
    }

    fn begin(&mut self, now_ms: u64) {
        if self.unfinished == 0 {
            self.since = now_ms;
        }
        self.unfinished = self.unfinished.saturating_add(1);
    }
}

impl Registrations {
    /// Adds the newest client. If there are too many, the oldest one without tokens is removed, or else the oldest one.
    fn add(&mut self, client: Known) {
        self.clients.sort_by_key(|known| !known.has_tokens);
        self.clients.insert(0, client);
        self.clients.truncate(SIGN_IN_REGISTRATIONS);
    }

    fn of(&mut self, id: &str) -> Option<&mut Known> {
        self.clients.iter_mut().find(|known| known.client.client_id == id)
    }
}

impl Values {
    /// Returns the registered client for a new sign-in to the server at `url`. If there is none that can be used, `endpoint` registers one.
    ///
    /// # Errors
    /// The registration or the store fails.
    pub(super) async fn registered_client(
        &self,
        url: &SecureUrl,
        found: &Discovered,
        endpoint: &SecureUrl,
        scopes: &[String],
        requests: Requests<'_>,
    ) -> Result<Registered, OAuthError> {
        let key = self.registrations_key(&found.server().issuer, url.as_str());
        let Entry { value, sealed, .. } = self.load::<Registrations>(Purpose::Client, &key).await?;
        let mut registrations = value.unwrap_or_default();
        let now = self.host.now_ms();
        let newest = registrations.clients.first_mut().filter(|known| known.is_usable(scopes, now));
        if let Some(newest) = newest
            && !(newest.is_in_doubt() && self.is_forgotten(&newest.client, found, requests).await?)
        {
            newest.begin(now);
            let client = newest.client.clone();
            // If another request has changed the entry, this sign-in is not counted.
            self.replace(Purpose::Client, &key, sealed.as_deref(), &registrations, KEEP).await?;
            return Ok(client);
        }
        let mut wanted = found.registered_scopes(scopes);
        add_scopes(&mut wanted, registrations.clients.first().into_iter().flat_map(|known| &known.scopes));
        wanted.truncate(SCOPES);
        let (client_name, redirect_uri) = (&*self.settings.name, &*self.settings.redirect_uri());
        let registration = Registration { client_name, redirect_uri, scopes: &wanted };
        let client = registration.register(endpoint, found.server(), requests).await?;
        let mut known = Known::new(client.clone(), wanted);
        known.begin(now);
        registrations.add(known);
        if self.replace(Purpose::Client, &key, sealed.as_deref(), &registrations, KEEP).await?.is_some() {
            return Ok(client);
        }
        // Another request has registered the client at the same time. Its client id counts, so that the tokens of both can be refreshed.
        let Entry { value, .. } = self.load::<Registrations>(Purpose::Client, &key).await?;
        let newest = value.and_then(|mut known| (!known.clients.is_empty()).then(|| known.clients.remove(0)));
        Ok(newest.map_or(client, |known| known.client))
    }

    /// Asks the authorization server whether it has forgotten a client: a request for a token with a code that does not exist. An authorization
    /// server authenticates the client before it looks for the code.
    async fn is_forgotten(
        &self,
        client: &Registered,
        found: &Discovered,
        requests: Requests<'_>,
    ) -> Result<bool, OAuthError> {
        let random = || random_text(&*self.host).map_err(|error| OAuthError::StoreFailed { cause: error.to_string() });
        let (code, code_verifier, redirect_uri) = (random()?, random()?, self.settings.redirect_uri());
        let grant =
            Grant::AuthorizationCode { code: &code, redirect_uri: &redirect_uri, code_verifier: &code_verifier };
        let server = found.server();
        let authentication = client.clone().authentication();
        let client = OAuthClient { authentication: &authentication, audience: &server.issuer };
        match client.token(&server.token_endpoint, grant, found.resource(), requests).await {
            Err(error) if error.is_unknown_client() => {
                let problem = format!("a client is registered again at {}: {}", server.issuer, error.cause());
                log::warning(&self.host, "sign-in", &problem);
                Ok(true)
            }
            // Another answer says nothing about the client.
            Err(error @ OAuthError::BudgetExhausted) => Err(error),
            _ => Ok(false),
        }
    }

    /// Returns the registered client that a token was issued to, if the store has it and its secret has not expired.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) async fn known_client(&self, issuer: &TokenIssuer) -> Result<Option<Registered>, OAuthError> {
        let key = self.registrations_key(&issuer.issuer, &issuer.server);
        let entry = self.load::<Registrations>(Purpose::Client, &key).await?;
        self.renew(Purpose::Client, &key, &entry, KEEP).await;
        let client = entry.value.and_then(|mut known| known.of(&issuer.client_id).map(|known| known.client.clone()));
        let now = self.host.now_ms();
        Ok(client.filter(|client| client.expires_ms.is_none_or(|expires| now < expires)))
    }

    /// Records that a sign-in with a registered client has ended with tokens.
    ///
    /// # Errors
    /// The store fails.
    pub(super) async fn client_has_tokens(&self, issuer: &TokenIssuer) -> Result<(), OAuthError> {
        let has_tokens = |known: &mut Known| {
            let is_change = known.unfinished > 0 || !known.has_tokens;
            (known.unfinished, known.has_tokens) = (0, true);
            is_change
        };
        self.change_client(issuer, has_tokens).await
    }

    /// Records that the authorization server rejects a registered client or its scopes. The next sign-in registers another one.
    ///
    /// # Errors
    /// The store fails.
    pub(super) async fn client_is_rejected(&self, issuer: &TokenIssuer) -> Result<(), OAuthError> {
        let rejected = |known: &mut Known| {
            (known.unfinished, known.since) = (SIGN_IN_UNFINISHED, 0);
            true
        };
        self.change_client(issuer, rejected).await
    }

    /// Records that a person has removed their access. The reason may be that the authorization server has forgotten the client, so the next
    /// sign-in asks it.
    ///
    /// # Errors
    /// The store fails.
    pub(super) async fn client_is_in_doubt(&self, issuer: &TokenIssuer) -> Result<(), OAuthError> {
        let now = self.host.now_ms();
        let in_doubt = |known: &mut Known| {
            let is_change = !known.is_in_doubt();
            if is_change {
                known.begin(now);
            }
            is_change
        };
        self.change_client(issuer, in_doubt).await
    }

    /// Changes the client, if the store has it. `change` returns whether there is something to write.
    async fn change_client(
        &self,
        issuer: &TokenIssuer,
        change: impl FnOnce(&mut Known) -> bool,
    ) -> Result<(), OAuthError> {
        let TokenIssuer { issuer: at, client_id: id, .. } = issuer;
        if self.settings.own_client(at, id).is_some() || self.settings.is_document(id) {
            return Ok(());
        }
        let key = self.registrations_key(&issuer.issuer, &issuer.server);
        let Entry { value, sealed, .. } = self.load::<Registrations>(Purpose::Client, &key).await?;
        let Some(mut registrations) = value else { return Ok(()) };
        if registrations.of(&issuer.client_id).is_some_and(change) {
            // If another request has changed the entry, the next sign-in records it.
            self.replace(Purpose::Client, &key, sealed.as_deref(), &registrations, KEEP).await?;
        }
        Ok(())
    }

    /// Forgets the client that an authorization server issued, because the authorization server does not know it any more. Returns whether
    /// there was one.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(super) async fn forget_client(&self, issuer: &TokenIssuer) -> Result<bool, OAuthError> {
        let key = self.registrations_key(&issuer.issuer, &issuer.server);
        let Entry { value, sealed, .. } = self.load::<Registrations>(Purpose::Client, &key).await?;
        let mut registrations = value.unwrap_or_default();
        let before = registrations.clients.len();
        registrations.clients.retain(|known| known.client.client_id != issuer.client_id);
        let is_known = registrations.clients.len() < before;
        if is_known {
            // If another request has changed the entry, the next failure forgets the client.
            self.replace(Purpose::Client, &key, sealed.as_deref(), &registrations, KEEP).await?;
        }
        Ok(is_known)
    }

    fn registrations_key(&self, issuer: &str, server: &str) -> String {
        Purpose::Client.key(&[issuer, &self.settings.redirect_uri(), server])
    }
}
