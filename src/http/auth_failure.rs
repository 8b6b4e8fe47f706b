//! What a caller is told who does not pass: a status, a challenge, and one sentence.
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
use crate::auth::{ProtectedResource, SecureUrl, TokenRefusal};
use crate::host::{Host, Level};
use crate::protocol::error::{ErrorCode, RpcError};

/// Seconds after which a token that nobody could check may be tried again.
const OUTAGE: Duration = Duration::from_secs(5);

/// Why a caller does not pass.
#[derive(Clone, Debug)]
pub(super) enum AuthFailure {
    NoToken,
    Malformed,
    TokenInQuery,
    Refused(TokenRefusal),
    /// These scopes are needed.
    InsufficientScope(String),
}

impl AuthFailure {
    /// What the log is told, where it is not what the status says.
    pub(super) fn for_log(&self) -> Option<String> {
        match self {
            Self::Refused(refusal) => Some(refusal.for_log()),
            _ => None,
        }
    }

    /// Status, error code of the challenge (RFC 6750 §3.1: who sent no token is told of none), and message.
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
                "The Authorization header must carry one token: `Authorization: Bearer <token>`.",
            ),
            Self::TokenInQuery => (
                Status::BAD_REQUEST,
                INVALID_REQUEST,
                "An access token in the URL ends up in logs, and is not taken. Send it as `Authorization: Bearer <token>`.",
            ),
            Self::InsufficientScope(scopes) => {
                let message = format!("The access token lacks scope for this. It needs: {scopes}.");
                return (Status::FORBIDDEN, Some("insufficient_scope"), message.into());
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

    /// The refusal, by the server that is `resource` and whose URL is `url`; `period` is that of its rate limit.
    pub(super) fn refusal(
        &self,
        resource: &ProtectedResource,
        url: Option<&SecureUrl>,
        period: Duration,
    ) -> Box<HttpError> {
        let (status, error, message) = self.describe();
        let mut refusal = HttpError::http(status, message.clone());
        let wait = match status {
            StatusCode::SERVICE_UNAVAILABLE => Some(OUTAGE),
            StatusCode::TOO_MANY_REQUESTS => Some(period),
            _ => None,
        };
        if let Some(wait) = wait {
            refusal.headers.insert(RETRY_AFTER, HeaderValue::from(wait.as_secs()));
            return refusal;
        }
        let has_issuer = !resource.authorization_servers.is_empty();
        let metadata = url.filter(|_| has_issuer).map(|url| url.well_known(WELL_KNOWN));
        let supported = resource.scopes.join(" ");
        let scopes = match self {
            Self::InsufficientScope(needed) => Some(needed.as_str()),
            // Whom nobody issues tokens for has none to ask.
            _ => Some(supported.as_str()).filter(|scopes| has_issuer && !scopes.is_empty()),
        };
        let challenge = Challenge::new()
            .with_some("error", error)
            .with_some("error_description", error.is_some().then_some(&*message))
            .with_some("scope", scopes)
            .with_some("resource_metadata", metadata.as_deref());
        refusal.headers.insert(WWW_AUTHENTICATE, challenge.into_value());
        refusal
    }
}

/// 503, and a line in the log that says what to mend.
pub(super) fn misconfigured(host: &Rc<dyn Host>, problem: &str) -> Box<HttpError> {
    let line = serde_json::json!({ "event": "misconfigured", "problem": problem }).to_string();
    host.log(Level::Error, &line);
    let message = format!("This server is not configured and serves nothing: {problem}.");
    HttpError::rpc(StatusCode::SERVICE_UNAVAILABLE, None, RpcError::new(ErrorCode::Internal, message))
}
