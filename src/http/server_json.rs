//! `/server.json`, the document for the MCP registry. It is public and contains only public data.

use std::borrow::Cow;
use std::rc::Rc;

use http::{Response, StatusCode};

use super::document;
use super::endpoint::Endpoint;
use super::http_error::HttpError;
use super::stream::Body;
use crate::engine::head::BoundedRequest;
use crate::host::{Host, Request, origin_of};

/// The path of the document.
pub(super) const PATH: &str = "/server.json";

impl Endpoint {
    /// Answers with the document of the server as an unauthenticated caller sees it.
    pub(super) async fn server_json(
        &self,
        head: &Rc<BoundedRequest>,
        url: &str,
        host: &Rc<dyn Host>,
    ) -> Result<Response<Body>, Box<HttpError>> {
        let method = head.method();
        if let Some(answer) = document::answer_other_method(&method) {
            return answer;
        }
        let needs_token = self.access.admit_anyone(&**head, url, &self.path, host).await?;
        let (request, server) = self.server_for_anyone(head, url, host)?;
        let configured = self.access.resource.url.as_ref().map(|url| Cow::Borrowed(url.as_str()));
        // A URL from the `Host` header of the request must not reach other clients, so caches must not store it.
        let is_for_all = configured.is_some() && !request.depends_on_caller();
        let own_url = configured.or_else(|| Some(format!("{}{}", origin_of(url)?, self.path).into()));
        let Some(document) = server.server_json(own_url.as_deref()) else {
            const NAMELESS: &str = "This server has no registry name, and its URL does not determine one. Set the name with `registry_name`.";
            return Err(HttpError::http(StatusCode::NOT_FOUND, NAMELESS));
        };
        let document = if needs_token { document.guarded() } else { document };
        let caching = if is_for_all { "public, max-age=300" } else { "no-store" };
        Ok(document::json(&document, &method, caching))
    }
}
