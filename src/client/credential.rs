//! The credential of a request: the `Authorization` header.

use std::time::Duration;

use http::HeaderValue;

use super::client_credentials::ClientCredentials;
use super::connection::Link;
use super::error::{Failed, Failure};
use super::headers;
use super::negotiation::Known;
use super::request::Outgoing;
use super::response::Answer;
use super::upstream::Credential;
use crate::host::FetchLimits;
use crate::limits::{UPSTREAM_NEGOTIATION_SECONDS, UPSTREAM_TOKEN_ANSWER_BYTES};

const LIMITS: FetchLimits =
    FetchLimits { time: Duration::from_secs(UPSTREAM_NEGOTIATION_SECONDS), bytes: UPSTREAM_TOKEN_ANSWER_BYTES };

impl Link {
    /// Returns the header for the next request, or `None` if the server gets no credential.
    pub(super) async fn credential(&self) -> Result<Option<HeaderValue>, Failed> {
        let token_of = match &self.upstream().credential {
            Credential::None => return Ok(None),
            Credential::Token(token) => return Ok(Some(token.clone())),
            Credential::ClientCredentials(client) => return self.issued_token(client).await.map(Some),
            Credential::PerCall(token_of) => token_of,
        };
        if let Some(credential) = self.credential_of_call.get() {
            return Ok(credential.clone());
        }
        let token = token_of(self.cx().clone()).await.map_err(|error| {
            let problem = format!("was not called, because this program has no token for it: {}", error.message());
            (Failure::Local(problem), error.0.cause)
        })?;
        let credential = token.map(|token| {
            let problem = "the function returned a token that no header can contain";
            headers::bearer(&token).ok_or_else(|| (Failure::Unauthorized, Some(problem.to_owned())))
        });
        let credential = credential.transpose()?;
        Ok(self.credential_of_call.get_or_init(|| credential).clone())
    }

    /// Posts a request and reads its answer. If the server rejects a token that an authorization server issued earlier, the request is sent
    /// once more with a new token.
    ///
    /// A token that this connection requested is not replaced, so a server that rejects every token ends the call.
    pub(super) async fn post(&self, outgoing: &Outgoing, known: Known, time: Duration) -> Result<Answer, Failed> {
        let Credential::ClientCredentials(client) = &self.upstream().credential else {
            return self.post_once(outgoing, known, time).await;
        };
        loop {
            let token = self.issued_token(client).await?;
            let answer = self.post_once(outgoing, known, time).await;
            if !matches!(answer, Err((Failure::Unauthorized, _))) {
                return answer;
            }
            client.forget(&token);
            // The connection now requests a token, so a second rejection ends the loop. If a parallel connection has requested one, the
            // number of requests of the connection bounds the loop.
            if self.requested_token.borrow().as_ref() == Some(&token) {
                return answer;
            }
        }
    }

    /// Returns the kept token of this program, or requests one. Parallel requests of a connection wait for one token.
    async fn issued_token(&self, client: &ClientCredentials) -> Result<HeaderValue, Failed> {
        let mut failure = self.token_request.lock().await;
        if let Some(token) = client.token(self.host().now_ms()) {
            return Ok(token);
        }
        // If the authorization server has failed, this connection does not ask it again.
        if let Some(failed) = &*failure {
            return Err(failed.clone());
        }
        if !self.spend() {
            return Err((Failure::BudgetExhausted, None));
        }
        let request = client.request(&self.upstream().url);
        let outcome = match self.host().fetch(request, LIMITS).await {
            Ok(answer) => client.keep(&answer, self.host().now_ms()).map_err(|problem| {
                let sentence = format!("was not called, because its authorization server {problem}.");
                (Failure::Local(sentence), Some("the request for an access token failed".to_owned()))
            }),
            Err(error) => {
                let sentence = "was not called, because its authorization server cannot be reached. Try again later.";
                Err((Failure::Local(sentence.into()), Some(error.to_string())))
            }
        };
        match &outcome {
            Ok(token) => drop(self.requested_token.replace(Some(token.clone()))),
            Err(failed) => *failure = Some(failed.clone()),
        }
        outcome
    }
}
