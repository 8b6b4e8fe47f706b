//! Requests to the endpoint with a method other than POST.

use http::header::CONTENT_TYPE;
use http::{Response, StatusCode};

use super::constant_header::{allow_header, set};
use super::http_error::HttpError;
use super::stream::Body;
use super::{cors, guard};
use crate::call::session_required::{END_SESSION, SERVER_STREAM};
use crate::engine::head::BoundedRequest;
use crate::protocol::error::{ErrorCode, RpcError};

/// The page for a person who opens the URL of the endpoint in a browser.
const PAGE: &str = "<meta charset=utf-8><title>MCP server</title><p>This is the address of an MCP server. \
                    It is for MCP clients: add it to yours as a server.";
/// Its end, if there is a landing page.
const LINK: &str = " <a href=/>The page of this server</a> says how.";

/// Answers a preflight of CORS, or rejects the request with a 405. `has_page` says whether the landing page is enabled.
///
/// In older revisions, GET and DELETE belong to sessions. This server has no sessions, so it answers 405, before authentication
/// (2025-03-26 to 2025-11-25, basic/transports, "Listening for Messages"; 2026-07-28, the same section).
#[cold]
#[inline(never)]
pub(super) fn answer(head: &BoundedRequest, method: &str, has_page: bool) -> Result<Response<Body>, Box<HttpError>> {
    const CODE: ErrorCode = ErrorCode::InvalidRequest;
    let error = match method {
        "OPTIONS" => return cors::preflight(head),
        "GET" if is_browser(head)? => return Ok(page(has_page)),
        "GET" => SERVER_STREAM.error(CODE),
        "DELETE" => END_SESSION.error(CODE),
        _ => RpcError::new(CODE, "Only POST is allowed. Send each message in a separate POST."),
    };
    let mut refusal = HttpError::rpc(StatusCode::METHOD_NOT_ALLOWED, None, error);
    allow_header(&mut refusal.headers);
    Err(refusal)
}

/// Returns whether the request comes from a browser that shows its answer to a person.
fn is_browser(head: &BoundedRequest) -> Result<bool, Box<HttpError>> {
    let accept = head.standard_header("accept")?.unwrap_or_default();
    Ok(guard::names(&accept, "text/html") && !guard::names(&accept, "text/event-stream"))
}

fn page(has_page: bool) -> Response<Body> {
    let mut text = PAGE.to_owned();
    if has_page {
        text.push_str(LINK);
    }
    let mut response = Response::new(Body::Bytes(text.into_bytes()));
    *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
    set(response.headers_mut(), CONTENT_TYPE, "text/html; charset=utf-8");
    allow_header(response.headers_mut());
    response
}
