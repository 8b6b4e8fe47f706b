//! The token that an authorization server issues to this program.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use futures::lock::Mutex;
use http::HeaderValue;

use super::client_credentials::ClientCredentials;
use super::token_source::TokenSource;
use crate::client::error::{Failed, Failure};
use crate::client::of_call::OfCall;
use crate::config::SecureUrl;
use crate::host::FetchLimits;
use crate::limits::{UPSTREAM_NEGOTIATION_SECONDS, UPSTREAM_TOKEN_ANSWER_BYTES};

const LIMITS: FetchLimits =
    FetchLimits { time: Duration::from_secs(UPSTREAM_NEGOTIATION_SECONDS), bytes: UPSTREAM_TOKEN_ANSWER_BYTES };

/// The cached token of this program, or a new one.
pub(in crate::client) struct IssuedToken {
    client: Rc<ClientCredentials>,
    /// The token that this connection requested last.
    requested: RefCell<Option<HeaderValue>>,
    /// Held while a token is requested. It has the failure of the last request, if that failed.
    request: Mutex<Option<Failed>>,
}

impl IssuedToken {
    pub(in crate::client) fn new(client: Rc<ClientCredentials>) -> Self {
        Self { client, requested: RefCell::default(), request: Mutex::new(None) }
    }

    /// Returns the cached token, or requests one. Parallel requests of a connection wait for one token.
    async fn cached_or_new(&self, url: &SecureUrl, call: &OfCall) -> Result<Option<HeaderValue>, Failed> {
        let host = call.cx.host();
        let mut failure = self.request.lock().await;
        if let Some(token) = self.client.token(host.now_ms()) {
            return Ok(Some(token));
        }
        // If the authorization server has failed, this connection does not ask it again.
        if let Some(failed) = &*failure {
            return Err(failed.clone());
        }
        if !call.spend() {
            return Err(Failure::BudgetExhausted.into());
        }
        let outcome = match host.fetch(self.client.request(url), LIMITS).await {
            Ok(answer) => self.client.cache(&answer, host.now_ms()).map_err(|problem| {
                let sentence = format!("was not called, because its authorization server {problem}.");
                Failed::new(Failure::Local(sentence), Some("the request for an access token failed".to_owned()))
            }),
            Err(error) => {
                let sentence = "was not called, because its authorization server cannot be reached. Try again later.";
                Err(Failed::new(Failure::Local(sentence.into()), Some(error.to_string())))
            }
        };
        match &outcome {
            Ok(token) => drop(self.requested.replace(Some(token.clone()))),
            Err(failed) => *failure = Some(failed.clone()),
        }
        outcome.map(Some)
    }
}

impl TokenSource for IssuedToken {
    fn token<'a>(
        &'a self,
        url: &'a SecureUrl,
        call: &'a OfCall,
    ) -> LocalBoxFuture<'a, Result<Option<HeaderValue>, Failed>> {
        self.cached_or_new(url, call).boxed_local()
    }

    /// Drops the cached token. A token that this connection requested is not replaced, so a server that rejects every token ends the call.
    ///
    /// If a parallel connection has requested the token, the number of requests of the connection bounds the repetitions.
    fn replaces(&self, rejected: &HeaderValue) -> bool {
        self.client.forget(rejected);
        self.requested.borrow().as_ref() != Some(rejected)
    }
}
