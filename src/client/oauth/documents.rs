//! The requests to authorization servers, and for the metadata documents of an MCP server and of its authorization server.

use std::rc::Rc;
use std::time::Duration;

use http::{HeaderMap, Method, Request};

use super::error::OAuthError;
use crate::client::wire::exchange::media_type;
use crate::config::SecureUrl;
use crate::host::transport::Transport;
use crate::host::{FetchLimits, Fetched, Host, in_time, is_same_url};
use crate::limits::{UPSTREAM_NEGOTIATION_SECONDS, UPSTREAM_TOKEN_ANSWER_BYTES};

/// The MCP server for which a token is requested.
#[derive(Clone)]
pub(in crate::client) struct ResourceServer {
    pub url: SecureUrl,
    /// The resource of its tokens, if the program names another one than its URL.
    pub resource: Option<SecureUrl>,
    /// The way to the server. The documents on its host are fetched by this way, so that no other server answers in its place.
    pub transport: Rc<dyn Transport>,
    /// Whether the server is on localhost, as that of a developer. Its metadata may name URLs on localhost.
    pub is_local: bool,
}

impl ResourceServer {
    /// Returns whether a document on this origin is one of the server.
    pub(super) fn owns(&self, origin: &str) -> bool {
        let resource = self.resource.as_ref().is_some_and(|resource| is_same_url(resource.origin(), origin));
        resource || is_same_url(self.url.origin(), origin)
    }
}

/// The access to the metadata documents for one MCP server.
#[derive(Clone, Copy)]
pub(in crate::client) struct Documents<'a> {
    pub server: &'a ResourceServer,
    pub requests: Requests<'a>,
}

/// The network for the requests of one connection. None of them has a token of the MCP server, and redirects are not followed.
#[derive(Clone, Copy)]
pub(in crate::client) struct Requests<'a> {
    pub host: &'a Rc<dyn Host>,
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
        let limits =
            FetchLimits { time: Duration::from_secs(UPSTREAM_NEGOTIATION_SECONDS), bytes: UPSTREAM_TOKEN_ANSWER_BYTES };
        let answer = self.host.fetch(request, limits).await;
        answer.map_err(|error| OAuthError::Unreachable { server: "its authorization server", cause: error.to_string() })
    }
}

/// The content at the URL of a document.
pub(super) enum DocumentContent {
    Json(Vec<u8>),
    /// The server has no JSON document there.
    Missing,
    /// The server answers with a status from 500.
    Failed,
}

impl Documents<'_> {
    /// Fetches a document. The request has no token, and redirects are not followed.
    ///
    /// # Errors
    /// `server` cannot be reached, or sends too much.
    pub(super) async fn fetch(&self, url: &SecureUrl, server: &'static str) -> Result<DocumentContent, OAuthError> {
        if !(self.requests.spend)() {
            return Err(OAuthError::BudgetExhausted);
        }
        let host = self.requests.host;
        let request = url.request(Method::GET, String::new()).into();
        let opening =
            if self.server.owns(url.origin()) { self.server.transport.open(request, host) } else { host.open(request) };
        let fetched = async {
            let mut opened = opening.await?;
            Ok(match opened.status {
                200 if is_json(&opened.headers) => {
                    DocumentContent::Json(opened.read(UPSTREAM_TOKEN_ANSWER_BYTES).await?)
                }
                500.. => DocumentContent::Failed,
                _ => DocumentContent::Missing,
            })
        };
        let time = Duration::from_secs(UPSTREAM_NEGOTIATION_SECONDS);
        let fetched = in_time(fetched, host.sleep(time)).await;
        fetched.map_err(|error| OAuthError::Unreachable { server, cause: error.to_string() })
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    media_type(headers).is_some_and(|name| name == "application/json" || name.ends_with("+json"))
}

#[cfg(test)]
mod tests {
    use http::header::CONTENT_TYPE;

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
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, media_type.parse().expect("a value"))]);
            assert_eq!(is_json(&headers), expected, "{media_type}");
        }
    }
}
