//! Authentication and authorization failures, and their HTTP responses: a status, a challenge, and one sentence.
//!
//! Source: RFC 6750 §3; RFC 9728 §5.1; RFC 6585 §4; 2026-07-28, basic/authorization, "Error Handling".

use std::borrow::Cow;
use std::rc::Rc;
use std::time::Duration;

use http::StatusCode;
use http::header::{HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};

use super::http_error::HttpError;
use crate::auth::challenge::Challenge;
use crate::auth::protected_resource::WELL_KNOWN;
use crate::auth::{ProtectedResource, TokenRefusal};
use crate::config::SecureUrl;
use crate::engine::refusal::{misconfigured, missing_scopes};
use crate::host::Host;

/// The time after which a client may retry if its token could not be checked.
const OUTAGE_RETRY_AFTER: Duration = Duration::from_secs(5);

/// The reason why the endpoint rejects a caller.
#[derive(Clone, Debug)]
pub(super) enum AuthFailure {
    /// The request has no bearer token.
    NoToken,
    /// The `Authorization` header is malformed.
    Malformed,
    /// The query of the URL has a token.
    TokenInQuery,
    /// The validator rejects the token.
    Refused(TokenRefusal),
    /// The token lacks some of these scopes.
    InsufficientScope(String),
}

impl AuthFailure {
    /// Returns the cause for the log, if the validator rejected the token.
    pub(super) fn for_log(&self) -> Option<String> {
        match self {
            Self::Refused(refusal) => Some(refusal.to_string()),
            _ => None,
        }
    }

    /// Returns the status, the error code of the challenge, and the message. If the request has no token, the challenge has no error code
    /// (RFC 6750 §3.1).
    fn describe(&self) -> (StatusCode, Option<&'static str>, Cow<'static, str>) {
        use StatusCode as Status;
        const INVALID_REQUEST: Option<&str> = Some("invalid_request");
        const INVALID_TOKEN: Option<&str> = Some("invalid_token");
        let (status, error, message) = match self {
            Self::NoToken => (
                Status::UNAUTHORIZED,
                None,
                "This server needs an access token: send it as `Authorization: Bearer <token>`.",
            ),
            Self::Malformed => (
                Status::BAD_REQUEST,
                INVALID_REQUEST,
                "The Authorization header must have exactly one token: `Authorization: Bearer <token>`.",
            ),
            Self::TokenInQuery => (
                Status::BAD_REQUEST,
                INVALID_REQUEST,
                "Access tokens in the URL are rejected, because URLs end up in logs. Send the token as `Authorization: Bearer <token>`.",
            ),
            Self::InsufficientScope(scopes) => {
                return (Status::FORBIDDEN, Some("insufficient_scope"), missing_scopes(scopes).into());
            }
            Self::Refused(refusal) => {
                let (status, error) = match refusal {
                    TokenRefusal::Unavailable(_) => (Status::SERVICE_UNAVAILABLE, None),
                    TokenRefusal::TooManyRequests => (Status::TOO_MANY_REQUESTS, None),
                    _ => (Status::UNAUTHORIZED, INVALID_TOKEN),
                };
                (status, error, refusal.describe())
            }
        };
        (status, error, message.into())
    }

    /// Returns the response. `resource` and `url` describe the server, and `period` is the period of its rate limit.
    pub(super) fn into_http_error(
        self,
        resource: &ProtectedResource,
        url: Option<&SecureUrl>,
        period: Duration,
    ) -> Box<HttpError> {
        let (status, error, message) = self.describe();
        let mut response = HttpError::http(status, message.clone());
        let retry_after = match status {
            StatusCode::SERVICE_UNAVAILABLE => Some(OUTAGE_RETRY_AFTER),
            StatusCode::TOO_MANY_REQUESTS => Some(period),
            _ => None,
        };
        if let Some(time) = retry_after {
            response.headers.insert(RETRY_AFTER, HeaderValue::from(time.as_secs()));
            return response;
        }
        let has_authorization_server = !resource.authorization_servers.is_empty();
        let metadata = url.filter(|_| has_authorization_server).map(|url| url.well_known(WELL_KNOWN));
        let supported = resource.scopes.join(" ");
        let scopes = match &self {
            Self::InsufficientScope(needed) => Some(needed.as_str()),
            // Without an authorization server there are no scopes to request.
            _ => Some(supported.as_str()).filter(|scopes| has_authorization_server && !scopes.is_empty()),
        };
        let challenge = Challenge::new()
            .with_some("error", error)
            .with_some("error_description", error.is_some().then_some(&*message))
            .with_some("scope", scopes)
            .with_some("resource_metadata", metadata.as_deref());
        response.headers.insert(WWW_AUTHENTICATE, challenge.into_value());
        response
    }
}

/// Returns a 503, and logs the problem with the configuration. The caller gets the problem only if it `is_public`.
pub(super) fn unavailable(host: &Rc<dyn Host>, problem: &str, is_public: bool) -> Box<HttpError> {
    HttpError::rpc(StatusCode::SERVICE_UNAVAILABLE, None, misconfigured(host, problem, is_public))
}
