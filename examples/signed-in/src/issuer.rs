//! The check of tokens: their issuer answers questions about them over a service binding.
//!
//! Only the issuer can check a token, because the tokens are opaque. The service binding reaches an entrypoint that has no URL, so a caller
//! cannot answer in its place, and the two Workers do not need a common secret.

use edge_mcp::auth::{ExpectedClaims, PresentedToken, Principal, TokenRefusal, TokenValidator};
use serde_json::{Map, Value};
use worker::{Fetcher, Method, RequestInit};

/// Asks the issuer of tokens about each token.
pub(crate) struct Issuer {
    /// The entrypoint `Tokens` of the authorization server.
    pub(crate) tokens: Fetcher,
    /// The claims of a token for this server.
    pub(crate) expected: ExpectedClaims,
}

impl TokenValidator for Issuer {
    async fn validate(&self, presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
        presented.check_rate_limit().await?;
        let unavailable = |error: worker::Error| TokenRefusal::Unavailable(error.to_string().into());
        let mut question = RequestInit::new();
        question.with_method(Method::Post).with_body(Some(presented.token().into()));
        // The host of the URL is not resolved.
        let mut answer = self.tokens.fetch("https://auth.internal/", Some(question)).await.map_err(unavailable)?;
        let claims: Option<Map<String, Value>> = answer.json().await.map_err(unavailable)?;
        let claims = claims.ok_or(TokenRefusal::Invalid("its issuer does not know it".into()))?;
        self.expected.check(claims, presented)
    }

    fn needs_resource(&self) -> bool {
        true
    }
}
