//! The credential of a connection to a server: the `Authorization` header of its requests.

use std::rc::Rc;

use http::HeaderValue;

use super::token_source::{Rejection, TokenSource};
use crate::call::context::Context;
use crate::client::budget::Budget;
use crate::client::error::ClientError;
use crate::config::SecureUrl;

/// The credential for one server, for one connection.
pub(in crate::client) enum Credential {
    /// The server gets no credential.
    None,
    /// The header of each request.
    Fixed(HeaderValue),
    Source(Rc<dyn TokenSource>),
}

impl Credential {
    /// Returns the header for the next request to `url`, or `None` if the server gets no credential.
    pub(in crate::client) async fn header(
        &self,
        url: &SecureUrl,
        call: &Budget,
    ) -> Result<Option<HeaderValue>, ClientError> {
        match self {
            Self::None => Ok(None),
            Self::Fixed(header) => Ok(Some(header.clone())),
            Self::Source(source) => source.token(url, call).await,
        }
    }

    /// Forgets a token that the server at `url` rejects. Returns whether the source then has another one.
    pub(in crate::client) async fn refresh(
        &self,
        rejection: Rejection<'_>,
        url: &SecureUrl,
        call: &Budget,
    ) -> Result<bool, ClientError> {
        match self {
            Self::Source(source) => source.refresh(rejection, url, call).await,
            Self::None | Self::Fixed(_) => Ok(false),
        }
    }

    /// Asks the caller of `cx` to open `link`. Returns whether there is another token now.
    pub(in crate::client) async fn sign_in(
        &self,
        link: &str,
        cx: &Context,
        url: &SecureUrl,
        call: &Budget,
    ) -> Result<bool, ClientError> {
        match self {
            Self::Source(source) => source.sign_in(link, cx, url, call).await,
            Self::None | Self::Fixed(_) => Ok(false),
        }
    }
}
