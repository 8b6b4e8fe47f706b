//! What clients read before they have a token.
//!
//! | path below `/.well-known/` | what is there |
//! |---|---|
//! | `oauth-protected-resource`, and the same with the server's path after it | the protected-resource metadata |
//! | `oauth-authorization-server` | the way to the authorization server's metadata, for clients of 2025-03-26 |
//!
//! Source: RFC 9728 §3; RFC 8414 §3; 2025-03-26, basic/authorization, "Server Metadata Discovery".

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_MAX_AGE,
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION,
};
use http::{Response, StatusCode};

use super::refusal::Refusal;
use super::stream::Body;
use crate::auth::protected_resource::WELL_KNOWN;
use crate::auth::{ProtectedResource, SecureUrl};

const PREFIX: &str = "/.well-known/";
const AUTHORIZATION_SERVER: &str = "oauth-authorization-server";
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");

/// The document at `path`, if one is there: of the server that is `resource` and whose URL is `url`.
pub(super) fn answer(
    resource: &ProtectedResource,
    url: Option<&SecureUrl>,
    path: &str,
    method: &str,
) -> Option<Result<Response<Body>, Box<Refusal>>> {
    let issuer = resource.authorization_servers.first()?;
    let url = url?;
    let name = path.strip_prefix(PREFIX)?.trim_end_matches('/');
    let after = name.strip_prefix(WELL_KNOWN);
    let is_metadata = after.is_some_and(|after| after.is_empty() || after == url.path().trim_end_matches('/'));
    if !is_metadata && name != AUTHORIZATION_SERVER {
        return None;
    }
    let answer = match method {
        "OPTIONS" => respond(
            StatusCode::NO_CONTENT,
            [
                (ACCESS_CONTROL_ALLOW_METHODS, METHODS),
                // Clients send the version of the protocol here too.
                (ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("*")),
                (ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400")),
            ],
        ),
        "GET" | "HEAD" if is_metadata => metadata(resource, url, method == "HEAD"),
        "GET" | "HEAD" => match HeaderValue::try_from(issuer.well_known(AUTHORIZATION_SERVER)) {
            Ok(there) => respond(StatusCode::FOUND, [(LOCATION, there)]),
            // A URL that was read has nothing that a header cannot hold.
            Err(_) => return None,
        },
        _ => {
            let message = "This document can be read, and nothing else: GET, HEAD or OPTIONS.";
            let mut refusal = Refusal::http(StatusCode::METHOD_NOT_ALLOWED, message);
            refusal.headers.insert(ALLOW, METHODS);
            return Some(Err(refusal));
        }
    };
    Some(Ok(answer))
}

fn metadata(resource: &ProtectedResource, url: &SecureUrl, head_only: bool) -> Response<Body> {
    let mut response = respond(
        StatusCode::OK,
        [
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600")),
        ],
    );
    if !head_only {
        // Strings, which cannot fail to be JSON.
        *response.body_mut() = Body::Bytes(serde_json::to_vec(&resource.metadata(url)).unwrap_or_default());
    }
    response
}

/// An answer that pages of any origin may read: there is nothing in it that is not for all.
fn respond<const N: usize>(status: StatusCode, headers: [(HeaderName, HeaderValue); N]) -> Response<Body> {
    let mut response = Response::new(Body::Bytes(Vec::new()));
    *response.status_mut() = status;
    response.headers_mut().extend(headers);
    response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}
