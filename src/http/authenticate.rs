//! Who calls.
//!
//! Source: RFC 6750 §3; 2026-07-28, basic/authorization, "Error Handling".

use http::StatusCode;
use http::header::{HeaderValue, WWW_AUTHENTICATE};

use super::refusal::Refusal;
use crate::auth::{ConfigError, Principal, TokenRefusal, TokenValidator, bearer};
use crate::host::{Host, Level, RequestHead};
use crate::protocol::error::{ErrorCode, RpcError};

/// How an endpoint learns who calls.
pub(super) enum Authentication {
    /// Nobody has said: nothing is served.
    Undecided,
    /// Everybody may call.
    Open,
    /// By a bearer token.
    Token(Box<dyn TokenValidator>),
    /// It cannot: nothing is served.
    Misconfigured(ConfigError),
}

impl Authentication {
    /// Who calls, or `None` where everybody may.
    pub(super) async fn authenticate(
        &self,
        head: &dyn RequestHead,
        host: &Host,
    ) -> Result<Option<Principal>, Box<Refusal>> {
        let validator = match self {
            Self::Open => return Ok(None),
            Self::Token(validator) => validator,
            Self::Misconfigured(error) => return Err(misconfigured(host, &error.to_string())),
            Self::Undecided => {
                return Err(misconfigured(
                    host,
                    "the endpoint has no authentication: give it a validator with `auth`, or open it with `without_auth`",
                ));
            }
        };
        let header = head.header("authorization");
        let token = bearer::token(header.as_deref()).map_err(|bearer::Malformed| {
            challenge(
                StatusCode::BAD_REQUEST,
                Some("invalid_request"),
                "The Authorization header must carry one token: `Authorization: Bearer <token>`.",
            )
        })?;
        let Some(token) = token else {
            // RFC 6750 §3.1: who sent no token is not told of an error.
            let message = "This server needs an access token: send it as `Authorization: Bearer <token>`.";
            return Err(challenge(StatusCode::UNAUTHORIZED, None, message));
        };
        let now = host.clock.now_ms() / 1000;
        let refused =
            |refusal: TokenRefusal| challenge(StatusCode::UNAUTHORIZED, Some("invalid_token"), refusal.describe());
        validator.validate(token, now).await.map(Some).map_err(refused)
    }
}

fn challenge(status: StatusCode, error: Option<&'static str>, message: &'static str) -> Box<Refusal> {
    let challenge = match error {
        None => HeaderValue::from_static("Bearer"),
        Some("invalid_request") => HeaderValue::from_static("Bearer error=\"invalid_request\""),
        Some(_) => HeaderValue::from_static("Bearer error=\"invalid_token\""),
    };
    let mut refusal = Refusal::http(status, message);
    refusal.headers.insert(WWW_AUTHENTICATE, challenge);
    refusal
}

fn misconfigured(host: &Host, problem: &str) -> Box<Refusal> {
    let line = serde_json::json!({ "event": "misconfigured", "problem": problem }).to_string();
    host.log.write(Level::Error, &line);
    let message = format!("This server is not configured and serves nothing: {problem}.");
    Refusal::rpc(StatusCode::SERVICE_UNAVAILABLE, None, RpcError::new(ErrorCode::Internal, message))
}
