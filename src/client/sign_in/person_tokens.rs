//! The tokens of the caller of a handler, for one connection to a server.

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use futures::lock::Mutex;
use http::HeaderValue;

use super::account::{Account, person_key};
use super::asking::ask;
use super::settings::SignIn;
use super::stored_tokens::StoredTokens;
use super::ticket::Ticket;
use super::values::Entry;
use crate::call::context::Context;
use crate::client::budget::Budget;
use crate::client::error::{ClientError, Failure};
use crate::client::oauth::error::OAuthError;
use crate::client::tokens::token_source::{Rejection, TokenSource};
use crate::client::wire::challenge::Challenge;
use crate::config::SecureUrl;

/// The tokens of the caller of a handler, from the token store.
pub(in crate::client) struct PersonTokens {
    sign_in: SignIn,
    /// The name of the server.
    server: String,
    /// Whether a user of the program chose the URL of the server.
    is_untrusted: bool,
    /// Held while tokens are read or refreshed.
    state: Mutex<State>,
}

/// The knowledge of a connection about the tokens.
#[derive(Default)]
struct State {
    /// Whether the tokens were read.
    is_loaded: bool,
    tokens: Option<StoredTokens>,
    /// Whether the server has rejected tokens that were new.
    was_refreshed: bool,
    /// The token that a sign-in must replace.
    rejected: Option<String>,
}

impl PersonTokens {
    pub(in crate::client) fn new(sign_in: SignIn, server: &str, is_untrusted: bool) -> Self {
        Self { sign_in, server: server.to_owned(), is_untrusted, state: Mutex::new(State::default()) }
    }

    /// Returns the failure of a request to the server.
    fn failed(&self, error: OAuthError) -> ClientError {
        if self.is_untrusted { error.of_untrusted().into_client_error() } else { error.into_client_error() }
    }

    /// Returns the person and their account, or `None` if the caller is not known.
    fn account(&self, url: &SecureUrl, call: &Budget) -> Option<(String, Account)> {
        let person = person_key(call.cx.request().caller()?);
        let account = Account::new(self.sign_in.values(&call.cx), &person, url);
        Some((person, account))
    }

    async fn current(&self, url: &SecureUrl, call: &Budget) -> Result<Option<HeaderValue>, ClientError> {
        let mut state = self.state.lock().await;
        let now = call.cx.host().now_ms();
        let is_usable = state.tokens.as_ref().is_none_or(|tokens| now < tokens.used_until);
        if !(state.is_loaded && is_usable) {
            let Some((_, account)) = self.account(url, call) else { return Ok(None) };
            state.tokens = account.usable(None, &|| call.spend()).await.map_err(|error| self.failed(error))?;
            state.is_loaded = true;
        }
        Ok(state.tokens.as_ref().and_then(header))
    }

    async fn replacement(&self, rejection: Rejection<'_>, url: &SecureUrl, call: &Budget) -> Result<bool, ClientError> {
        let mut state = self.state.lock().await;
        let Some((person, account)) = self.account(url, call) else {
            let reason = "a person must sign in to it, and the caller of this program is not authenticated.";
            return Err(Failure::not_called(reason).into());
        };
        let rejected = rejection.token.and_then(|token| token.to_str().ok()).map(str::to_owned);
        let mut scopes = rejection.challenge.map(Challenge::scopes).unwrap_or_default();
        if rejection.lacks_scope {
            let Entry { value: stored, .. } = account.stored().await.map_err(|error| self.failed(error))?;
            let Some(stored) = stored.filter(|stored| !stored.has_ended) else { return Ok(false) };
            let allowed = self.sign_in.0.allowed_scopes(&stored.issuer.issuer, &self.server);
            match stored.step_up(&scopes, allowed, account.values.host.now_ms()) {
                Some(wanted) => scopes = wanted,
                None => return Ok(false),
            }
        } else if state.tokens.as_ref().is_some_and(|known| Some(&known.authorization) != rejected.as_ref()) {
            // A parallel request has replaced the rejected token.
            return Ok(true);
        } else if !state.was_refreshed {
            let tokens =
                account.usable(rejected.as_deref(), &|| call.spend()).await.map_err(|error| self.failed(error))?;
            let is_new = tokens.as_ref().is_some_and(|tokens| Some(&tokens.authorization) != rejected.as_ref());
            if is_new {
                (state.tokens, state.is_loaded, state.was_refreshed) = (tokens, true, true);
                return Ok(true);
            }
        }
        state.rejected = rejected;
        let ticket = Ticket::new(&self.server, &person, rejection.challenge, scopes, account.values.host.now_ms());
        let url = account.values.link(&ticket).map_err(|error| self.failed(error))?;
        Err(Failure::SignInRequired { url }.into())
    }

    /// Returns whether the person has signed in since the server rejected the last token.
    ///
    /// # Errors
    /// The store cannot be read.
    async fn is_renewed(&self, url: &SecureUrl, call: &Budget) -> Result<bool, ClientError> {
        let mut state = self.state.lock().await;
        let Some((_, account)) = self.account(url, call) else { return Ok(false) };
        let Entry { value: stored, .. } = account.stored().await.map_err(|error| self.failed(error))?;
        let now = account.values.host.now_ms();
        // The store also has tokens that have expired and have no refresh token.
        let new = stored.filter(|stored| {
            !stored.has_ended && now < stored.used_until && Some(&stored.authorization) != state.rejected.as_ref()
        });
        let is_new = new.is_some();
        if is_new {
            *state = State { is_loaded: true, tokens: new, ..State::default() };
        }
        Ok(is_new)
    }
}

fn header(tokens: &StoredTokens) -> Option<HeaderValue> {
    let mut header = HeaderValue::from_str(&tokens.authorization).ok()?;
    header.set_sensitive(true);
    Some(header)
}

impl TokenSource for PersonTokens {
    fn token<'a>(
        &'a self,
        url: &'a SecureUrl,
        call: &'a Budget,
    ) -> LocalBoxFuture<'a, Result<Option<HeaderValue>, ClientError>> {
        self.current(url, call).boxed_local()
    }

    fn refresh<'a>(
        &'a self,
        rejection: Rejection<'a>,
        url: &'a SecureUrl,
        call: &'a Budget,
    ) -> LocalBoxFuture<'a, Result<bool, ClientError>> {
        self.replacement(rejection, url, call).boxed_local()
    }

    fn sign_in<'a>(
        &'a self,
        link: &'a str,
        cx: &'a Context,
        url: &'a SecureUrl,
        call: &'a Budget,
    ) -> LocalBoxFuture<'a, Result<bool, ClientError>> {
        let is_renewed = move || self.is_renewed(url, call).boxed_local();
        async move { ask(&self.server, link, cx, &is_renewed).await }.boxed_local()
    }
}
