//! Metadata that clients read without a token.
//!
//! | path below `/.well-known/` | content |
//! |---|---|
//! | `oauth-protected-resource`, also with the path of the server appended | the protected resource metadata |
//! | `oauth-authorization-server` | a redirect to the authorization server's metadata, for clients of 2025-03-26 |
//!
//! Source: RFC 9728 §3; RFC 8414 §3; 2025-03-26, basic/authorization, "Server Metadata Discovery".

use http::header::{HeaderValue, LOCATION};
use http::{Response, StatusCode};

use super::document;
use super::http_error::HttpError;
use super::stream::Body;
use crate::auth::ProtectedResource;
use crate::auth::protected_resource::WELL_KNOWN;
use crate::config::SecureUrl;

const PREFIX: &str = "/.well-known/";
const AUTHORIZATION_SERVER: &str = "oauth-authorization-server";

/// Answers a request for one of these documents. Returns `None` for another path. `url` is the URL of the server `resource`.
pub(super) fn answer(
    resource: &ProtectedResource,
    url: Option<&SecureUrl>,
    path: &str,
    method: &str,
) -> Option<Result<Response<Body>, Box<HttpError>>> {
    let issuer = resource.authorization_servers.first()?;
    let url = url?;
    let name = path.strip_prefix(PREFIX)?.trim_end_matches('/');
    let after = name.strip_prefix(WELL_KNOWN);
    let is_metadata = after.is_some_and(|after| after.is_empty() || after == url.path().trim_end_matches('/'));
    if !is_metadata && name != AUTHORIZATION_SERVER {
        return None;
    }
    if let Some(answer) = document::answer_other_method(method) {
        return Some(answer);
    }
    if is_metadata {
        return Some(Ok(document::json(&resource.metadata(url), method, "public, max-age=3600")));
    }
    // A parsed URL contains only characters that are valid in a header.
    let there = HeaderValue::try_from(issuer.well_known(AUTHORIZATION_SERVER)).ok()?;
    let mut redirect = document::respond(StatusCode::FOUND);
    redirect.headers_mut().insert(LOCATION, there);
    Some(Ok(redirect))
}
