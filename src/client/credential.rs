//! The credential of a connection to a server: the `Authorization` header of its requests.

use std::rc::Rc;

use http::HeaderValue;

use super::error::Failed;
use super::of_call::OfCall;
use super::token_source::TokenSource;
use crate::auth::SecureUrl;

/// The credential for one server, for one connection.
pub(super) struct Credential {
    source: Option<Rc<dyn TokenSource>>,
    /// The header of each request, unless there is a source of tokens.
    token: Option<HeaderValue>,
}

impl Credential {
    pub(super) fn new(source: Option<Rc<dyn TokenSource>>, token: Option<HeaderValue>) -> Self {
        Self { source, token }
    }

    /// Returns the header for the next request to `url`, or `None` if the server gets no credential.
    pub(super) async fn header(&self, url: &SecureUrl, call: &OfCall) -> Result<Option<HeaderValue>, Failed> {
        match &self.source {
            Some(source) => source.token(url, call).await,
            None => Ok(self.token.clone()),
        }
    }

    /// Forgets a token that the server rejects. Returns whether the source then has another one.
    pub(super) fn replaces(&self, rejected: &HeaderValue) -> bool {
        self.source.as_ref().is_some_and(|source| source.replaces(rejected))
    }
}
