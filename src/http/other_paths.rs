//! Requests to paths other than that of the endpoint: pages of the program, the landing page, and documents.

use std::rc::Rc;

use http::header::{HeaderValue, LOCATION};
use http::{Response, StatusCode};

use super::endpoint::Endpoint;
use super::http_error::HttpError;
#[cfg(feature = "page")]
use super::landing::{self, Format};
use super::pipeline::{Head, foreign_origin};
use super::stream::Body;
use super::{server_json, well_known};
use crate::call::client_extensions::ClientDetails;
use crate::call::context::Context;
use crate::call::request_info::{RequestInfo, Services};
use crate::engine::head::BoundedRequest;
use crate::host::{self, Host, Request as _, path_of};
use crate::protocol::revision::Era;
use crate::server::builder::McpServer;

impl Endpoint {
    /// Returns the format in which a request asks for the landing page, or `None` if it does not.
    #[cfg(feature = "page")]
    pub(super) fn landing_page(&self, head: &BoundedRequest, path: &str) -> Result<Option<Format>, Box<HttpError>> {
        if *self.has_page { landing::requested(head, path, &self.path) } else { Ok(None) }
    }

    /// Answers a request to a path other than that of the endpoint, or a request for the landing page.
    pub(super) async fn answer_other_path(
        &self,
        Head { request: head, url, host, .. }: &Head<'_>,
        body: &impl host::Request,
        origin_passes: bool,
    ) -> Result<Response<Body>, Box<HttpError>> {
        let path = path_of(url);
        if let Some(page) = self.pages.iter().find(|page| page.path == path && path != self.path) {
            if !origin_passes && !is_same_origin(head, url)? {
                return Err(foreign_origin());
            }
            let needs_token = self.access.admit_anyone(&**head, url, &self.path, host).await?;
            let endpoint =
                Services { state: self.engine.state.clone(), exposed: self.engine.exposed, ..Services::default() };
            let request = RequestInfo::of_endpoint(head.clone(), None, ClientDetails::default(), needs_token, endpoint);
            let cx = Context::for_program(request, (*host).clone());
            return page.answer(head, body, &self.engine.limits, &cx).await;
        }
        if path == "/" && head.method() == "POST" {
            return if origin_passes { self.redirect_to_endpoint() } else { Err(foreign_origin()) };
        }
        let own_url = self.access.server_url(url, &self.path);
        #[cfg(feature = "page")]
        if let Some(format) = self.landing_page(head, path)? {
            if !origin_passes {
                return Err(foreign_origin());
            }
            // The page shows the server as an unauthenticated caller sees it.
            self.access.admit_anyone(&**head, url, &self.path, host).await?;
            let (_, server) = self.server_for_anyone(head, url, host)?;
            let info = &server.definitions.info;
            return Ok(landing::answer(format, info, &self.path, own_url.get(), &self.search_box, &head.method()));
        }
        if let Some(answer) = well_known::answer(&self.access.resource, own_url.get(), path, &head.method()) {
            return answer;
        }
        if path == server_json::PATH {
            return self.server_json(head, url, host).await;
        }
        Err(self.nothing_here())
    }

    /// Builds the server as an unauthenticated caller sees it.
    pub(super) fn server_for_anyone(
        &self,
        head: &Rc<BoundedRequest>,
        url: &str,
        host: &Rc<dyn Host>,
    ) -> Result<(RequestInfo, McpServer), Box<HttpError>> {
        let info = self.engine.request_info(head.clone(), None, ClientDetails::default());
        let server = self.engine.build(&info, host);
        server.map(|server| (info, server)).map_err(|refusal| self.refused(refusal, Era::Modern, None, url))
    }

    /// Redirects a client that knows only the host. It sends its message again, to the endpoint: a rule of a firewall or proxy for the path
    /// of the endpoint then applies to it.
    fn redirect_to_endpoint(&self) -> Result<Response<Body>, Box<HttpError>> {
        let there = HeaderValue::from_str(&self.path).map_err(|_| self.nothing_here())?;
        let mut redirect = Response::new(Body::Bytes(Vec::new()));
        *redirect.status_mut() = StatusCode::PERMANENT_REDIRECT;
        redirect.headers_mut().insert(LOCATION, there);
        Ok(redirect)
    }

    fn nothing_here(&self) -> Box<HttpError> {
        let message = format!("There is nothing at this path. The endpoint is at {}.", self.path);
        HttpError::http(StatusCode::NOT_FOUND, message)
    }
}

/// Returns whether the origin of a request equals the origin of its URL, as for a form on a page of the program. A client can send any
/// host, so this check must not protect the endpoint itself.
fn is_same_origin(head: &BoundedRequest, url: &str) -> Result<bool, Box<HttpError>> {
    let origin = head.standard_header("origin")?;
    Ok(origin.zip(host::origin_of(url)).is_some_and(|(origin, own)| origin.eq_ignore_ascii_case(own)))
}
