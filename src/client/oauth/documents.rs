//! The metadata documents of an MCP server and of its authorization server.

use std::rc::Rc;
use std::time::Duration;

use http::{HeaderMap, Method};

use super::error::OAuthError;
use crate::client::wire::exchange::media_type;
use crate::config::SecureUrl;
use crate::host::transport::Transport;
use crate::host::{Host, in_time, is_same_url};
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
    pub host: &'a Rc<dyn Host>,
    /// Counts a request. Returns `false` if no further request may be sent.
    pub spend: &'a dyn Fn() -> bool,
}

/// The content at the URL of a document.
pub(super) enum Content {
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
    pub(super) async fn fetch(&self, url: &SecureUrl, server: &'static str) -> Result<Content, OAuthError> {
        if !(self.spend)() {
            return Err(OAuthError::BudgetExhausted);
        }
        let request = url.request(Method::GET, String::new()).into();
        let opening = if self.server.owns(url.origin()) {
            self.server.transport.open(request, self.host)
        } else {
            self.host.open(request)
        };
        let fetched = async {
            let mut opened = opening.await?;
            Ok(match opened.status {
                200 if is_json(&opened.headers) => Content::Json(opened.read(UPSTREAM_TOKEN_ANSWER_BYTES).await?),
                500.. => Content::Failed,
                _ => Content::Missing,
            })
        };
        let time = Duration::from_secs(UPSTREAM_NEGOTIATION_SECONDS);
        let fetched = in_time(fetched, self.host.sleep(time)).await;
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
