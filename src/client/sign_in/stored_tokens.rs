//! The tokens of a person for a server, as the store keeps them.

use serde::{Deserialize, Serialize};

use crate::client::oauth::error::OAuthError;
use crate::client::oauth::token_response::{TokenResponse, after, used_until};
use crate::client::wire::challenge::{SCOPES, add_scopes};
use crate::config::SecureUrl;
use crate::limits::{SIGN_IN_REPEAT_SECONDS, SIGN_INS_OF_SCOPES, UPSTREAM_TOKEN_SECONDS};

/// The tokens of a person for a server.
#[derive(Clone, Deserialize, Serialize)]
pub(super) struct StoredTokens {
    pub issuer: TokenIssuer,
    pub scopes: Vec<String>,
    /// The scopes that were requested, and the times of the latest sign-ins for exactly these, in milliseconds since 1970.
    pub requested: Vec<String>,
    pub sign_ins: Vec<u64>,
    /// The value of the `Authorization` header with the access token.
    pub authorization: String,
    pub refresh_token: Option<String>,
    /// The time until which the access token is used, and the time at which it expires, in milliseconds since 1970.
    pub used_until: u64,
    pub expires: u64,
    /// The time until which another request may refresh the tokens.
    pub lease: Option<u64>,
    /// Whether the authorization server has ended the access. The person has to sign in again.
    pub has_ended: bool,
}

impl StoredTokens {
    /// Creates the tokens of an answer to a request for these scopes.
    pub(super) fn issued(issuer: TokenIssuer, scopes: Vec<String>, response: TokenResponse, now_ms: u64) -> Self {
        // A token without a refresh token is used until the server rejects it, because only the person can get another one.
        let unstated = if response.refresh_token.is_some() { UPSTREAM_TOKEN_SECONDS } else { u64::MAX };
        let lifetime = response.lifetime(unstated);
        Self {
            issuer,
            scopes: response.scopes().unwrap_or_else(|| scopes.clone()),
            requested: scopes,
            sign_ins: Vec::new(),
            authorization: response.authorization(),
            used_until: used_until(now_ms, lifetime),
            expires: after(now_ms, lifetime),
            refresh_token: response.refresh_token,
            lease: None,
            has_ended: false,
        }
    }

    /// Returns the tokens of a person who has to sign in again.
    pub(super) fn ended(self) -> Self {
        Self { has_ended: true, lease: None, ..self }
    }

    /// Returns whether a token of `other` is also one of these tokens. Some authorization servers issue the same refresh token again.
    pub(super) fn has_a_token_of(&self, other: &Self) -> bool {
        self.authorization == other.authorization
            || self.refresh_token.is_some() && self.refresh_token == other.refresh_token
    }

    /// Returns whether tokens come from the same sign-in.
    pub(super) fn is_of_sign_in_of(&self, other: &Self) -> bool {
        self.sign_ins.last() == other.sign_ins.last()
    }

    /// Returns the times of the latest sign-ins for the scopes `requested`.
    pub(super) fn recent_sign_ins(&self, requested: &[String], now_ms: u64) -> Vec<u64> {
        if !is_same_set(&self.requested, requested) {
            return Vec::new();
        }
        let oldest = now_ms.saturating_sub(SIGN_IN_REPEAT_SECONDS.saturating_mul(1000));
        self.sign_ins.iter().copied().filter(|at| *at >= oldest).take(SIGN_INS_OF_SCOPES).collect()
    }

    /// Returns the scopes of a sign-in that also asks for the scopes that a server requires. Returns `None` if another sign-in cannot help:
    /// the token has the scopes already, the operator does not allow them, or the person has signed in for them several times.
    pub(super) fn step_up(&self, required: &[String], allowed: Option<&[String]>, now_ms: u64) -> Option<Vec<String>> {
        if required.iter().all(|scope| self.scopes.contains(scope)) {
            return None;
        }
        let mut wanted = self.scopes.clone();
        add_scopes(&mut wanted, self.requested.iter().chain(required));
        wanted.retain(|scope| allowed.is_none_or(|allowed| allowed.contains(scope)));
        // A request has no more scopes, so the sign-ins for them are counted.
        wanted.truncate(SCOPES);
        if wanted.iter().all(|scope| self.scopes.contains(scope)) {
            return None;
        }
        (self.recent_sign_ins(&wanted, now_ms).len() < SIGN_INS_OF_SCOPES).then_some(wanted)
    }
}

fn is_same_set(left: &[String], right: &[String]) -> bool {
    left.iter().all(|scope| right.contains(scope)) && right.iter().all(|scope| left.contains(scope))
}

/// The authorization server of a sign-in, and the client and the resource of its tokens.
///
/// It is kept with the state of the sign-in and with the tokens, so that nothing is discovered again: another authorization server cannot
/// take its place.
#[derive(Clone, Deserialize, Serialize)]
pub(super) struct TokenIssuer {
    pub issuer: String,
    pub token_endpoint: String,
    pub revocation_endpoint: Option<String>,
    /// The client id, and the method of authentication.
    pub client_id: String,
    pub method: String,
    /// The resource indicator.
    pub resource: String,
    /// The URL of the MCP server. A registered client is only for this server.
    pub server: String,
}

impl TokenIssuer {
    /// Returns the URL of the token endpoint.
    ///
    /// # Errors
    /// It is not valid. The rules for URLs have allowed it before it was kept.
    pub(super) fn token_endpoint(&self) -> Result<SecureUrl, OAuthError> {
        endpoint("token_endpoint", &self.token_endpoint)
    }

    /// Returns the URL of the revocation endpoint, if there is one.
    ///
    /// # Errors
    /// It is not valid.
    pub(super) fn revocation_endpoint(&self) -> Result<Option<SecureUrl>, OAuthError> {
        self.revocation_endpoint.as_ref().map(|url| endpoint("revocation_endpoint", url)).transpose()
    }
}

fn endpoint(member: &'static str, url: &str) -> Result<SecureUrl, OAuthError> {
    SecureUrl::parse(url).map_err(|problem| OAuthError::UnsafeUrl { member, problem })
}
