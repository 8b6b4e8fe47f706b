//! The credential of a request: the `Authorization` header.

use std::time::Duration;

use http::HeaderValue;

use super::connection::Link;
use super::error::Failed;
use super::negotiation::Sent;
use super::reactions::{Action, Reaction};
use super::request::Outgoing;
use super::response::Answer;
use crate::protocol::revision::Era;

impl Link {
    /// Returns the header for the next request, or `None` if the server gets no credential.
    pub(super) async fn credential(&self) -> Result<Option<HeaderValue>, Failed> {
        match self.token_source() {
            Some(source) => source.token(&self.upstream().url, self.of_call()).await,
            None => Ok(self.upstream().token.clone()),
        }
    }

    /// Posts a request, and returns its answer with the reaction. If the server rejects the token and the source has another one, the
    /// request is sent once more.
    pub(super) async fn post(
        &self,
        outgoing: &Outgoing,
        sent: &mut Sent,
        time: Duration,
    ) -> Result<(Answer, Reaction), Failed> {
        loop {
            let credential = self.credential().await?;
            if self.renegotiated(outgoing.method, sent).await? {
                continue;
            }
            sent.has_session = sent.known.era() == Era::Legacy && self.has_session();
            let answer = self.post_once(outgoing, sent.known, time, credential.clone()).await?;
            let reaction = sent.react(answer.form());
            let rejected = credential.filter(|_| matches!(answer, Answer::Http { status: 401, .. }));
            // A source forgets a rejected token, also if the request is not sent again.
            let is_replaced =
                self.token_source().zip(rejected).is_some_and(|(source, rejected)| source.replaces(&rejected));
            if reaction.action != Action::NewToken {
                return Ok((answer, reaction));
            }
            if !is_replaced {
                let reaction = sent.react(answer.form());
                return Ok((answer, reaction));
            }
        }
    }
}
