//! The token that an authorization server issues to this program.

use std::cell::RefCell;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use futures::lock::Mutex;
use http::HeaderValue;

use super::client_credentials::ClientCredentials;
use super::token_source::{Rejection, TokenSource};
use crate::client::budget::Budget;
use crate::client::error::ClientError;
use crate::client::oauth::documents::Requests;
use crate::client::oauth::documents::{Documents, ResourceServer};
use crate::client::oauth::error::OAuthError;

/// The cached token of this program, or a new one.
pub(in crate::client) struct IssuedToken {
    client: Rc<ClientCredentials>,
    server: ResourceServer,
    budget: Rc<Budget>,
    /// The token that this connection requested last.
    requested: RefCell<Option<HeaderValue>>,
    /// Held while a token is requested. It has the failure of the last request, if that failed.
    request: Mutex<Option<ClientError>>,
}

impl IssuedToken {
    pub(in crate::client) fn new(client: Rc<ClientCredentials>, server: ResourceServer, budget: Rc<Budget>) -> Self {
        Self { client, server, budget, requested: RefCell::default(), request: Mutex::new(None) }
    }

    /// Returns the cached token, or requests one. Parallel requests of a connection wait for one token. Before the server has rejected a
    /// request, the client may not know a token endpoint, and returns `None`.
    async fn cached_or_new(&self) -> Result<Option<HeaderValue>, ClientError> {
        let mut failure = self.request.lock().await;
        if let Some(token) = self.client.token(self.budget.cx.host().now_ms()) {
            return Ok(Some(token));
        }
        // If the authorization server has failed, this connection does not ask it again.
        if let Some(failed) = &*failure {
            return Err(failed.clone());
        }
        if !self.client.knows_endpoint() {
            return Ok(None);
        }
        let requests = Requests { host: self.budget.cx.host(), spend: &|| self.budget.spend() };
        self.kept(self.client.request(&self.server, requests).await, &mut failure).map(Some)
    }

    /// Requests another token than the cached one. A token that this connection requested is not replaced, so a server that rejects every
    /// token ends the call. All callers share the token, and a server may reject a request because of its caller. So a new token is not
    /// replaced, and an old one is used until there is another one.
    async fn replacement(&self, rejection: Rejection<'_>) -> Result<bool, ClientError> {
        if rejection.lacks_scope {
            return Ok(false);
        }
        let mut failure = self.request.lock().await;
        if rejection.token.is_some() && self.requested.borrow().as_ref() == rejection.token {
            return Ok(false);
        }
        let now = self.budget.cx.host().now_ms();
        match self.client.token(now) {
            // A parallel request has requested a token.
            Some(token) if Some(&token) != rejection.token => return Ok(true),
            Some(_) if self.client.has_new_token(now) => return Ok(false),
            _ => {}
        }
        if let Some(failed) = &*failure {
            return Err(failed.clone());
        }
        let spend = || self.budget.spend();
        let requests = Requests { host: self.budget.cx.host(), spend: &spend };
        let documents = Documents { server: &self.server, requests };
        let outcome = match self.client.discover(documents, rejection.challenge).await {
            Ok(()) => self.client.request(&self.server, requests).await,
            Err(error) => Err(error),
        };
        self.kept(outcome, &mut failure).map(|_| true)
    }

    /// Keeps the outcome of a request for the rest of the connection.
    fn kept(
        &self,
        outcome: Result<HeaderValue, OAuthError>,
        failure: &mut Option<ClientError>,
    ) -> Result<HeaderValue, ClientError> {
        match outcome {
            Ok(token) => {
                self.requested.replace(Some(token.clone()));
                Ok(token)
            }
            Err(error) => Err(failure.insert(error.into_client_error()).clone()),
        }
    }
}

impl TokenSource for IssuedToken {
    fn token(&self) -> LocalBoxFuture<'_, Result<Option<HeaderValue>, ClientError>> {
        self.cached_or_new().boxed_local()
    }

    fn refresh<'a>(&'a self, rejection: Rejection<'a>) -> LocalBoxFuture<'a, Result<bool, ClientError>> {
        self.replacement(rejection).boxed_local()
    }
}
