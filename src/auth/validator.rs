//! The interface of token validators.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::principal::Principal;
use super::protected_resource::ServerUrl;
use super::rate_limit::AddressLimit;
use crate::config::SecureUrl;
use crate::host::Host;

/// The reason why a token was refused.
///
/// The caller gets the sentence of [`describe`](Self::describe). `Display` writes the reason with its detail, for the log. A detail must
/// not contain any part of the token. In a handler, `?` converts a refusal into the handler's error, which hides the detail from the
/// caller.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenRefusal {
    /// The token is unknown or malformed: 401.
    Invalid(Cow<'static, str>),
    /// The token has expired: 401.
    Expired,
    /// The token is for another server: 401.
    WrongAudience,
    /// The token cannot be checked at the moment: 503. The caller may send it again.
    Unavailable(Cow<'static, str>),
    /// The caller's address sent too many requests: 429.
    TooManyRequests,
}

impl TokenRefusal {
    /// Returns the sentence that the caller gets.
    pub const fn describe(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "The access token is not valid for this server.",
            Self::Expired => "The access token has expired.",
            Self::WrongAudience => "The access token was issued for another server.",
            Self::Unavailable(_) => "Access tokens cannot be checked at the moment. Try again in a few seconds.",
            Self::TooManyRequests => "Too many requests. Wait before you send the next one.",
        }
    }
}

impl fmt::Display for TokenRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(detail) => write!(f, "invalid: {detail}"),
            Self::Expired => f.write_str("expired"),
            Self::WrongAudience => f.write_str("wrong audience"),
            Self::Unavailable(detail) => write!(f, "unavailable: {detail}"),
            Self::TooManyRequests => f.write_str("too many requests"),
        }
    }
}

impl std::error::Error for TokenRefusal {}

/// An access token that a caller has presented, and the data that a validator may need to check it.
#[derive(Clone, Copy)]
pub struct PresentedToken<'a> {
    pub(crate) token: &'a str,
    pub(crate) host: &'a Rc<dyn Host>,
    pub(crate) server_url: &'a ServerUrl<'a>,
    pub(crate) address_limit: &'a AddressLimit<'a>,
}

impl<'a> PresentedToken<'a> {
    /// Returns the token: one or more of `A-Z a-z 0-9 - . _ ~ + / :`, then any number of `=`.
    pub fn token(&self) -> &'a str {
        self.token
    }

    /// Returns the URL of this server, which the audience of a token must contain. If the URL is not configured, this method
    /// returns the URL of the request for a request to localhost, and `None` for other hosts.
    pub fn resource(&self) -> Option<&'a SecureUrl> {
        self.server_url.get()
    }

    /// Returns the current time in seconds since 1970-01-01T00:00:00Z.
    pub fn now(&self) -> u64 {
        self.host.now_ms() / 1000
    }

    /// Returns the host, for example to send a request to another server.
    pub fn host(&self) -> &'a dyn Host {
        &**self.host
    }

    /// Counts the request against the rate limit of the caller's address. Further calls do not count the request again.
    ///
    /// Call it before you ask another server about the token. Otherwise an unknown caller can make this server send any number of
    /// requests.
    ///
    /// # Errors
    /// [`TokenRefusal::TooManyRequests`] if the address has exceeded its limit.
    pub async fn check_rate_limit(&self) -> Result<(), TokenRefusal> {
        if self.address_limit.allows().await { Ok(()) } else { Err(TokenRefusal::TooManyRequests) }
    }

    /// Fails if the caller's address has exceeded its limit with forged tokens. Call it before the check of a signature.
    pub(super) fn check_not_blocked(&self) -> Result<(), TokenRefusal> {
        if self.address_limit.is_blocked() { Err(TokenRefusal::TooManyRequests) } else { Ok(()) }
    }

    /// Returns the refusal of a token with a wrong signature, and counts it against the rate limit of the caller's address.
    pub(super) async fn refuse_forgery(&self) -> TokenRefusal {
        if self.address_limit.allows_forgery().await {
            TokenRefusal::Invalid("no key of its issuer has signed it".into())
        } else {
            TokenRefusal::TooManyRequests
        }
    }
}

/// Decides whether a token is valid, and which caller it identifies.
///
/// The endpoint calls the validator for every request, also for a token that the validator has accepted before. Then it checks the
/// principal that the validator returns. It rejects a principal that has expired or whose audience does not include this server.
///
/// An async function or closure is a validator too:
///
/// ```
/// use edge_mcp::auth::{PresentedToken, Principal, TokenRefusal};
/// use edge_mcp::{BuildError, Endpoint, McpServer, RequestInfo};
///
/// fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
///     McpServer::builder("empty", "1.0.0").build()
/// }
///
/// async fn by_length(presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
///     match presented.token().len() {
///         64 => Ok(Principal::new("ada").with_scopes(["kb:read"])),
///         _ => Err(TokenRefusal::Invalid("it does not have 64 characters".into())),
///     }
/// }
///
/// let endpoint = Endpoint::new(server).auth(by_length);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a token validator",
    label = "expected a validator, or an async function of `PresentedToken<'_>` that returns `Result<Principal, TokenRefusal>`",
    note = "if this is a `Result`, use `?`: the endpoint function may return `Result<Endpoint, ConfigError>`"
)]
pub trait TokenValidator {
    /// Checks a token and returns the caller that it identifies.
    ///
    /// # Errors
    /// The reason why the token is refused.
    fn validate(&self, presented: PresentedToken<'_>) -> impl Future<Output = Result<Principal, TokenRefusal>>
    where
        Self: Sized;

    /// Returns whether the validator compares audiences with the [URL of this server](PresentedToken::resource). If it does, an endpoint
    /// without a URL answers every request with 503, except on localhost.
    fn needs_resource(&self) -> bool {
        false
    }

    /// Returns whether the callers of this issuer belong to the validator. An [`AnyOf`](crate::auth::AnyOf) then refuses them from its other
    /// validators, unless these vouch for the issuer too.
    fn vouches_for(&self, issuer: &str) -> bool {
        let _ = issuer;
        false
    }
}

#[diagnostic::do_not_recommend]
impl<F: AsyncFn(PresentedToken<'_>) -> Result<Principal, TokenRefusal>> TokenValidator for F {
    async fn validate(&self, presented: PresentedToken<'_>) -> Result<Principal, TokenRefusal> {
        self(presented).await
    }
}

/// [`TokenValidator`] with a boxed future, for trait objects.
pub(crate) trait DynValidator: TokenValidator {
    fn validate_boxed<'a>(
        &'a self,
        presented: PresentedToken<'a>,
    ) -> LocalBoxFuture<'a, Result<Principal, TokenRefusal>>;
}

impl<V: TokenValidator> DynValidator for V {
    fn validate_boxed<'a>(
        &'a self,
        presented: PresentedToken<'a>,
    ) -> LocalBoxFuture<'a, Result<Principal, TokenRefusal>> {
        self.validate(presented).boxed_local()
    }
}
