//! The credential of a request: the `Authorization` header.

use std::time::Duration;

use http::HeaderValue;

use super::connection::Link;
use super::error::{Failed, Failure};
use super::negotiation::Known;
use super::request::Outgoing;
use super::response::Answer;

impl Link {
    /// Returns the header for the next request, or `None` if the server gets no credential.
    pub(super) async fn credential(&self) -> Result<Option<HeaderValue>, Failed> {
        match self.token_source() {
            Some(source) => source.token(&self.upstream().url, self.of_call()).await,
            None => Ok(self.upstream().token.clone()),
        }
    }

    /// Posts a request and reads its answer. If the server rejects the token and the source has another one, the request is sent once
    /// more.
    pub(super) async fn post(&self, outgoing: &Outgoing, known: Known, time: Duration) -> Result<Answer, Failed> {
        loop {
            let credential = self.credential().await?;
            let answer = self.post_once(outgoing, known, time, credential.clone()).await;
            let is_rejected = answer.as_ref().is_err_and(|failed| *failed.failure() == Failure::Unauthorized);
            let source = self.token_source().filter(|_| is_rejected);
            if source.zip(credential).is_none_or(|(source, rejected)| !source.replaces(&rejected)) {
                return answer;
            }
        }
    }
}
