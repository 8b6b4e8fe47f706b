//! The requests to the endpoints of authorization servers.

use std::time::Duration;

use http::Request;

use super::error::OAuthError;
use crate::host::{FetchLimits, Fetched, Host};
use crate::limits::{UPSTREAM_NEGOTIATION_SECONDS, UPSTREAM_TOKEN_ANSWER_BYTES};

const LIMITS: FetchLimits =
    FetchLimits { time: Duration::from_secs(UPSTREAM_NEGOTIATION_SECONDS), bytes: UPSTREAM_TOKEN_ANSWER_BYTES };

/// The network for the requests of one connection. None of them has a token of the MCP server, and redirects are not followed.
#[derive(Clone, Copy)]
pub(in crate::client) struct Requests<'a> {
    pub host: &'a dyn Host,
    /// Counts a request. Returns `false` if no further request may be sent.
    pub spend: &'a dyn Fn() -> bool,
}

impl Requests<'_> {
    /// Sends a request to an endpoint of the authorization server.
    ///
    /// # Errors
    /// The authorization server cannot be reached.
    pub(in crate::client) async fn send(&self, request: Request<String>) -> Result<Fetched, OAuthError> {
        if !(self.spend)() {
            return Err(OAuthError::BudgetExhausted);
        }
        let answer = self.host.fetch(request, LIMITS).await;
        answer.map_err(|error| OAuthError::Unreachable { server: "its authorization server", cause: error.to_string() })
    }
}
