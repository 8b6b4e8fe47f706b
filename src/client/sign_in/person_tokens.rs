//! The tokens of the caller of a handler, for one connection to a server.

use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use futures::lock::Mutex;
use http::HeaderValue;

use super::account::{Account, person_key};
use super::settings::SignIn;
use super::stored_tokens::StoredTokens;
use super::ticket::Ticket;
use super::values::StoreEntry;
use crate::call::context::Context;
use crate::call::elicitation::FormAnswer;
use crate::call::error::HandlerError;
use crate::client::budget::Budget;
use crate::client::error::{ClientError, Failure};
use crate::client::oauth::error::OAuthError;
use crate::client::tokens::token_source::{Rejection, TokenSource};
use crate::client::wire::challenge::BearerChallenge;
use crate::config::SecureUrl;
use crate::limits::{SIGN_IN_QUESTIONS, SIGN_IN_WAIT_SECONDS};

/// The time between two looks at the token store.
const PAUSE: Duration = Duration::from_secs(1);

/// The tokens of the caller of a handler, from the token store.
pub(in crate::client) struct PersonTokens {
    sign_in: SignIn,
    /// The name and the URL of the server.
    server: String,
    url: SecureUrl,
    /// Whether a user of the program chose the URL of the server.
    is_untrusted: bool,
    budget: Rc<Budget>,
    /// Held while tokens are read or refreshed.
    known: Mutex<KnownTokens>,
}

/// The knowledge of a conversation about the tokens.
#[derive(Default)]
struct KnownTokens {
    /// Whether the tokens were read.
    is_loaded: bool,
    tokens: Option<StoredTokens>,
    /// Whether the server has rejected tokens that were new.
    was_refreshed: bool,
    /// The token that a sign-in must replace.
    rejected: Option<String>,
}

impl PersonTokens {
    pub(in crate::client) fn new(
        sign_in: SignIn,
        server: &str,
        url: SecureUrl,
        is_untrusted: bool,
        budget: Rc<Budget>,
    ) -> Self {
        Self { sign_in, server: server.to_owned(), url, is_untrusted, budget, known: Mutex::default() }
    }

    /// Returns the failure of a request to the server.
    fn failed(&self, error: OAuthError) -> ClientError {
        if self.is_untrusted { error.of_untrusted().into_client_error() } else { error.into_client_error() }
    }

    /// Returns the person and their account, or `None` if the caller is not known.
    fn account(&self) -> Option<(String, Account)> {
        let cx = &self.budget.cx;
        let person = person_key(cx.request().caller()?);
        let account = Account::new(self.sign_in.values(cx), &person, &self.url);
        Some((person, account))
    }

    async fn usable(&self, account: &Account, rejected: Option<&str>) -> Result<Option<StoredTokens>, ClientError> {
        account.usable(rejected, &|| self.budget.spend()).await.map_err(|error| self.failed(error))
    }

    async fn current(&self) -> Result<Option<HeaderValue>, ClientError> {
        let mut known = self.known.lock().await;
        let now = self.budget.cx.host().now_ms();
        let is_usable = known.tokens.as_ref().is_none_or(|tokens| now < tokens.used_until);
        if !(known.is_loaded && is_usable) {
            let Some((_, account)) = self.account() else { return Ok(None) };
            known.tokens = self.usable(&account, None).await?;
            known.is_loaded = true;
        }
        Ok(known.tokens.as_ref().and_then(header))
    }

    async fn replacement(&self, rejection: Rejection<'_>) -> Result<bool, ClientError> {
        let mut known = self.known.lock().await;
        let Some((person, account)) = self.account() else {
            let reason = "a person must sign in to it, and the caller of this program is not authenticated.";
            return Err(Failure::not_called(reason).into());
        };
        let rejected = rejection.token.and_then(|token| token.to_str().ok()).map(str::to_owned);
        let mut scopes = rejection.challenge.map(BearerChallenge::scopes).unwrap_or_default();
        if rejection.lacks_scope {
            let StoreEntry { value: stored, .. } = account.stored().await.map_err(|error| self.failed(error))?;
            let Some(stored) = stored.filter(|stored| !stored.has_ended) else { return Ok(false) };
            let allowed = self.sign_in.0.allowed_scopes(&stored.issuer.issuer, &self.server);
            match stored.step_up(&scopes, allowed, account.values.host.now_ms()) {
                Some(wanted) => scopes = wanted,
                None => return Ok(false),
            }
        } else if known.tokens.as_ref().is_some_and(|tokens| Some(&tokens.authorization) != rejected.as_ref()) {
            // A parallel request has replaced the rejected token.
            return Ok(true);
        } else if !known.was_refreshed {
            let tokens = self.usable(&account, rejected.as_deref()).await?;
            let is_new = tokens.as_ref().is_some_and(|tokens| Some(&tokens.authorization) != rejected.as_ref());
            if is_new {
                (known.tokens, known.is_loaded, known.was_refreshed) = (tokens, true, true);
                return Ok(true);
            }
        }
        known.rejected = rejected;
        let ticket = Ticket::new(&self.server, &person, rejection.challenge, scopes, account.values.host.now_ms());
        let url = account.values.link(&ticket).map_err(|error| self.failed(error))?;
        Err(Failure::SignInRequired { url }.into())
    }

    /// Returns whether the person has signed in since the server rejected the last token.
    ///
    /// # Errors
    /// The store cannot be read.
    async fn is_renewed(&self) -> Result<bool, ClientError> {
        let mut known = self.known.lock().await;
        let Some((_, account)) = self.account() else { return Ok(false) };
        let StoreEntry { value: stored, .. } = account.stored().await.map_err(|error| self.failed(error))?;
        let now = account.values.host.now_ms();
        // The store also has tokens that have expired and have no refresh token.
        let new = stored.filter(|stored| {
            !stored.has_ended && now < stored.used_until && Some(&stored.authorization) != known.rejected.as_ref()
        });
        let is_new = new.is_some();
        if is_new {
            *known = KnownTokens { is_loaded: true, tokens: new, ..KnownTokens::default() };
        }
        Ok(is_new)
    }

    /// Asks the caller of `cx` to open `link`. The request continues when the person has signed in, and the result is then `true`.
    ///
    /// Source: 2026-07-28, client/elicitation, "URL Mode Elicitation".
    async fn ask(&self, link: &str, cx: &Context) -> Result<bool, ClientError> {
        let server = &self.server;
        // The link is different each time, and a question must be the same in each round.
        let link: String = cx.step("sign in", &(), async || Ok(link.to_owned())).await.map_err(step_failed)?;
        let message = format!("The server `{server}` requires you to sign in. Open the page, sign in, and come back.");
        for attempt in 1..=SIGN_IN_QUESTIONS {
            let key = format!("{server}.sign-in.{attempt}");
            match cx.elicit_url(key, message.clone(), link.clone()).await {
                Ok(FormAnswer::Accepted(())) => {}
                Ok(FormAnswer::Declined | FormAnswer::Cancelled) => {
                    return Err(Failure::not_called("you did not agree to sign in.").into());
                }
                Err(unasked) if unasked.is_unasked() => return Ok(false),
                Err(malformed) => {
                    let failure = Failure::not_called("your answer is not valid.");
                    return Err(ClientError::new(failure, Some(malformed.to_string())));
                }
            }
            if self.is_renewed().await? {
                return Ok(true);
            }
            // A later round does not wait again.
            let waited = cx.step(format!("sign in {attempt}"), &(), async || {
                for _ in 0..SIGN_IN_WAIT_SECONDS {
                    cx.host().sleep(PAUSE).await;
                    // The failure of a store is an error after the step.
                    if self.is_renewed().await.unwrap_or(true) {
                        break;
                    }
                }
                Ok(())
            });
            waited.await.map_err(step_failed)?;
            if self.is_renewed().await? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn step_failed(error: HandlerError) -> ClientError {
    ClientError::new(Failure::not_called("the sign-in failed. Try again later."), Some(error.message().to_owned()))
}

fn header(tokens: &StoredTokens) -> Option<HeaderValue> {
    let mut header = HeaderValue::from_str(&tokens.authorization).ok()?;
    header.set_sensitive(true);
    Some(header)
}

impl TokenSource for PersonTokens {
    fn token(&self) -> LocalBoxFuture<'_, Result<Option<HeaderValue>, ClientError>> {
        self.current().boxed_local()
    }

    fn refresh<'a>(&'a self, rejection: Rejection<'a>) -> LocalBoxFuture<'a, Result<bool, ClientError>> {
        self.replacement(rejection).boxed_local()
    }

    fn sign_in<'a>(&'a self, link: &'a str, cx: &'a Context) -> LocalBoxFuture<'a, Result<bool, ClientError>> {
        self.ask(link, cx).boxed_local()
    }
}
