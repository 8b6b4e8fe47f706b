//! The requests to authorization servers, and for metadata.

use std::time::Duration;

use http::{Method, Request};

use super::error::OAuthError;
use crate::client::wire::exchange::media_type;
use crate::config::SecureUrl;
use crate::host::{FetchLimits, Fetched, Host, in_time};
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

    /// Fetches a metadata document. Returns `None` if the server has no JSON document at `url`.
    ///
    /// # Errors
    /// `server` cannot be reached, fails, or sends too much.
    pub(super) async fn metadata(&self, url: &SecureUrl, server: &'static str) -> Result<Option<Vec<u8>>, OAuthError> {
        if !(self.spend)() {
            return Err(OAuthError::BudgetExhausted);
        }
        let unreachable = |cause: String| OAuthError::Unreachable { server, cause };
        let opening = self.host.open(url.request(Method::GET, String::new()).into());
        let fetched = async {
            let mut opened = opening.await?;
            let is_json = media_type(&opened.headers).is_some_and(|name| is_json(&name));
            let body = if opened.status == 200 && is_json { Some(opened.read(LIMITS.bytes).await?) } else { None };
            Ok((opened.status, body))
        };
        let fetched = in_time(fetched, self.host.sleep(LIMITS.time)).await;
        match fetched.map_err(|error| unreachable(error.to_string()))? {
            (500.., _) => Err(unreachable("the request for metadata failed on the server".to_owned())),
            (_, body) => Ok(body),
        }
    }
}

fn is_json(media_type: &str) -> bool {
    media_type == "application/json" || media_type.ends_with("+json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_is_metadata() {
        for (media_type, expected) in [
            ("application/json", true),
            ("application/oauth-authorization-server+json", true),
            ("text/html", false),
            ("application/jsonp", false),
            ("text/json", false),
            ("", false),
        ] {
            assert_eq!(is_json(media_type), expected, "{media_type}");
        }
    }
}
