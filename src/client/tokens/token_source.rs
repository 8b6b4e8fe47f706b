//! A source of access tokens, for one conversation with a server.

use std::future::ready;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use http::HeaderValue;

use crate::call::context::Context;
use crate::client::error::ClientError;
use crate::client::wire::challenge::BearerChallenge;

/// A request that the server rejected: with status 401, or with status 403 because the token lacks a scope.
#[derive(Clone, Copy)]
pub(in crate::client) struct Rejection<'a> {
    /// The header of the request, if it had a token.
    pub token: Option<&'a HeaderValue>,
    /// The challenge of the server, if it sent one.
    pub challenge: Option<&'a BearerChallenge>,
    /// Whether the token is valid, but lacks a scope. Only a sign-in of the person can add one.
    pub lacks_scope: bool,
}

/// A source of access tokens for one server, for one conversation. The `Authorization` header of a request has the token.
///
/// It is a trait, so that a wasm module contains only the sources that the program uses.
pub(in crate::client) trait TokenSource {
    /// Returns the header for the next request, or `None` if the server gets no credential.
    fn token(&self) -> LocalBoxFuture<'_, Result<Option<HeaderValue>, ClientError>>;

    /// Forgets a token that the server rejects, and gets another one if it can. Returns whether it has another one.
    ///
    /// # Errors
    /// The failure ends the request.
    fn refresh<'a>(&'a self, rejection: Rejection<'a>) -> LocalBoxFuture<'a, Result<bool, ClientError>> {
        let _ = rejection;
        ready(Ok(false)).boxed_local()
    }

    /// Asks the caller of `cx` to open `link`, because a person must sign in to the server. Returns whether there is another token now.
    ///
    /// # Errors
    /// The failure ends the request.
    fn sign_in<'a>(&'a self, link: &'a str, cx: &'a Context) -> LocalBoxFuture<'a, Result<bool, ClientError>> {
        let _ = (link, cx);
        ready(Ok(false)).boxed_local()
    }
}

/// The header of each request.
impl TokenSource for Option<HeaderValue> {
    fn token(&self) -> LocalBoxFuture<'_, Result<Option<HeaderValue>, ClientError>> {
        ready(Ok(self.clone())).boxed_local()
    }
}
