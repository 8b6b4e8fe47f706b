//! Several validators as one.

use super::principal::Principal;
use super::validator::{DynValidator, Presented, TokenRefusal, TokenValidator};

/// Accepts a token if one of its validators accepts it. It calls them in the order in which they were added, so add the cheapest first.
///
/// ```
/// use edge_mcp::{AnyOf, Introspection, StaticTokens};
///
/// let tokens = r#"[{"token": "s3cret", "subject": "ada", "scopes": []}]"#;
/// let validator = AnyOf::new()
///     .or(StaticTokens::from_json("MCP_STATIC_TOKENS", Some(tokens))?)
///     .or(Introspection::new("https://auth.example.com/introspect")?);
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
#[derive(Default)]
pub struct AnyOf(Vec<Box<dyn DynValidator>>);

impl AnyOf {
    /// Creates an empty list of validators. It rejects every token.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a validator.
    #[must_use]
    pub fn or(mut self, validator: impl TokenValidator + 'static) -> Self {
        self.0.push(Box::new(validator));
        self
    }
}

/// Returns the rank of a refusal. If all validators refuse a token, the refusal with the highest rank is reported. A validator that cannot
/// check the token outranks a validator that rejects it, because the token may be valid.
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
        let mut reported = TokenRefusal::Invalid("no validator accepts it".into());
        for validator in &self.0 {
            match validator.validate_boxed(presented).await {
                Ok(principal) => return Ok(principal),
                Err(refusal) if rank(&refusal) >= rank(&reported) => reported = refusal,
                Err(_) => {}
            }
        }
        Err(reported)
    }

    fn needs_resource(&self) -> bool {
        self.0.iter().any(|validator| validator.needs_resource())
    }
}
