//! A source of access tokens, for one connection.

use futures::future::LocalBoxFuture;
use http::HeaderValue;

use crate::client::error::Failed;
use crate::client::of_call::OfCall;
use crate::config::SecureUrl;

/// A source of access tokens for one server, for one connection. The `Authorization` header of a request has the token.
///
/// It is a trait, so that a wasm module contains only the sources that the program uses.
pub(in crate::client) trait TokenSource {
    /// Returns the header for the next request to `url`, or `None` if the server gets no credential.
    fn token<'a>(
        &'a self,
        url: &'a SecureUrl,
        call: &'a OfCall,
    ) -> LocalBoxFuture<'a, Result<Option<HeaderValue>, Failed>>;

    /// Forgets a token that the server rejects. Returns whether the source then has another one.
    fn replaces(&self, rejected: &HeaderValue) -> bool {
        let _ = rejected;
        false
    }
}
