//! Several validators as one.

use super::principal::Principal;
use super::validator::{DynValidator, PresentedToken, TokenRefusal, TokenValidator};

/// Accepts a token if one of its validators accepts it. It calls them in the order in which they were added, so add the cheapest first.
///
/// Two validators never identify the same caller, unless both vouch for its [issuer](TokenValidator::vouches_for). A caller whose issuer belongs
/// to another validator is refused. A caller without an issuer gets one of its own, from the position of the validator.
///
/// ```
/// use edge_mcp::auth::{AnyOf, Introspection};
/// use edge_mcp::StaticTokens;
///
/// let tokens = r#"[{"token": "s3cret", "subject": "ada", "scopes": []}]"#;
/// let validator = AnyOf::new()
///     .or(StaticTokens::from_json("MCP_STATIC_TOKENS", Some(tokens))?)
///     .or(Introspection::new("https://auth.example.com/introspect")?);
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
#[derive(Default)]
#[must_use]
pub struct AnyOf(Vec<Box<dyn DynValidator>>);

impl AnyOf {
    /// Creates an empty list of validators. It rejects every token.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a validator.
    pub fn or(mut self, validator: impl TokenValidator + 'static) -> Self {
        self.0.push(Box::new(validator));
        self
    }

    /// Checks and completes the issuer of a principal that the validator at `position` has returned.
    fn with_issuer(
        &self,
        mut principal: Principal,
        validator: &dyn DynValidator,
        position: usize,
    ) -> Result<Principal, TokenRefusal> {
        principal.issuer = match principal.issuer {
            None => Some(format!("{POSITION}{position}")),
            // The validator is a list itself.
            Some(issuer) if issuer.starts_with(POSITION) => Some(format!("{issuer}.{position}")),
            Some(issuer) => {
                let is_own = validator.vouches_for(&issuer);
                if !is_own && self.0.iter().any(|other| other.vouches_for(&issuer)) {
                    return Err(TokenRefusal::Invalid(
                        "its issuer belongs to another validator: set the issuer of this validator too".into(),
                    ));
                }
                Some(issuer)
            }
        };
        Ok(principal)
    }
}

/// The prefix of the issuer of callers that have no issuer.
const POSITION: &str = "edge-mcp:validator:";

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
    async fn validate(&self, presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
        let mut reported = TokenRefusal::Invalid("no validator accepts it".into());
        for (position, validator) in (1_usize..).zip(&self.0) {
            let validated = validator.validate_boxed(presented).await;
            match validated.and_then(|principal| self.with_issuer(principal, &**validator, position)) {
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

    fn vouches_for(&self, issuer: &str) -> bool {
        self.0.iter().any(|validator| validator.vouches_for(issuer))
    }
}
