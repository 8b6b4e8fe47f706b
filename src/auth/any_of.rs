//! Several validators, any of which may accept a token.

use super::config::ConfigError;
use super::principal::Principal;
use super::validator::{BoxValidator, IntoValidator, Presented, TokenRefusal, TokenValidator};

/// Accepts what one of its validators accepts. They are asked one after the other: the cheapest should come first.
///
/// ```
/// use edge_mcp::auth::{AnyOf, Introspection, StaticTokens};
///
/// let tokens = r#"[{"token": "s3cret", "subject": "ada", "scopes": []}]"#;
/// let validator = AnyOf::new()
///     .or(StaticTokens::from_json("MCP_STATIC_TOKENS", Some(tokens)))?
///     .or(Introspection::new("https://auth.example.com/introspect"))?;
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
#[derive(Default)]
pub struct AnyOf(Vec<BoxValidator>);

impl AnyOf {
    /// Accepts nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also accepts what `validator` accepts.
    ///
    /// # Errors
    /// The mistake in the configuration that left no validator.
    pub fn or<Kind>(mut self, validator: impl IntoValidator<Kind>) -> Result<Self, ConfigError> {
        self.0.push(validator.into_validator()?);
        Ok(self)
    }
}

/// Of several refusals, the one that tells the caller most. Where one validator cannot say, the token may be a good one: that
/// outranks all that the others say.
fn rank(refusal: &TokenRefusal) -> u8 {
    match refusal {
        TokenRefusal::Invalid(_) => 0,
        TokenRefusal::WrongAudience => 1,
        TokenRefusal::Expired => 2,
        TokenRefusal::Unavailable(_) => 3,
        TokenRefusal::TooManyRequests => 4,
    }
}

impl TokenValidator for AnyOf {
    async fn validate(&self, presented: Presented<'_>) -> Result<Principal, TokenRefusal> {
        let mut refused = TokenRefusal::Invalid("no validator knows it".into());
        for validator in &self.0 {
            match validator.validate(presented).await {
                Ok(principal) => return Ok(principal),
                Err(refusal) if rank(&refusal) >= rank(&refused) => refused = refusal,
                Err(_) => {}
            }
        }
        Err(refused)
    }

    fn needs_resource(&self) -> bool {
        self.0.iter().any(TokenValidator::needs_resource)
    }
}
