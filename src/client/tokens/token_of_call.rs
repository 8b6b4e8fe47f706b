//! The token that a function of the program returns for a call.

use std::cell::OnceCell;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use http::HeaderValue;

use super::token_source::TokenSource;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::client::error::{ClientError, Failure};
use crate::client::wire::headers;

/// A function that returns the token for a call.
pub(in crate::client) type TokenOf = dyn Fn(Context) -> LocalBoxFuture<'static, Result<Option<String>, HandlerError>>;

/// The token of one call of a handler. The function is called once.
pub(in crate::client) struct TokenOfCall {
    token_of: Rc<TokenOf>,
    token: OnceCell<Option<HeaderValue>>,
    cx: Context,
}

impl TokenOfCall {
    pub(in crate::client) fn new(token_of: Rc<TokenOf>, cx: Context) -> Self {
        Self { token_of, token: OnceCell::new(), cx }
    }
}

impl TokenSource for TokenOfCall {
    fn token(&self) -> LocalBoxFuture<'_, Result<Option<HeaderValue>, ClientError>> {
        let token = async move {
            if let Some(token) = self.token.get() {
                return Ok(token.clone());
            }
            let token = (self.token_of)(self.cx.clone()).await.map_err(|error| {
                let reason = format!("this program has no token for it: {}", error.message());
                ClientError::new(Failure::not_called(reason), error.0.cause)
            })?;
            let token = token.map(|token| {
                let problem = "the function returned a token that no header can contain";
                headers::bearer(&token).ok_or_else(|| ClientError::new(Failure::Unauthorized, Some(problem.to_owned())))
            });
            let token = token.transpose()?;
            Ok(self.token.get_or_init(|| token).clone())
        };
        token.boxed_local()
    }
}
