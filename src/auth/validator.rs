//! What decides whether a token is good.

use std::borrow::Cow;
use std::future::Future;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::config::ConfigError;
use super::principal::Principal;
use super::secure_url::SecureUrl;
use crate::host::Host;

/// What the log is told of a refusal; never anything of the token.
pub type Detail = Cow<'static, str>;

/// Why a token was refused. The caller learns which of these it is, and no more.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenRefusal {
    /// It is not known, or not well-formed: 401.
    Invalid(Detail),
    /// It was good once: 401.
    Expired,
    /// It is good, and for another server: 401.
    WrongAudience,
    /// Nobody can say now whether it is good: 503. The token may be tried again.
    Unavailable(Detail),
    /// There were too many requests from this caller's address: 429.
    TooManyRequests,
}

impl TokenRefusal {
    /// The sentence the caller gets.
    pub const fn describe(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "The access token is not valid for this server.",
            Self::Expired => "The access token has expired.",
            Self::WrongAudience => "The access token was issued for another server.",
            Self::Unavailable(_) => "Access tokens cannot be checked at this moment. Try again in a few seconds.",
            Self::TooManyRequests => "There were too many requests. Wait before the next one.",
        }
    }

    /// What the log gets.
    pub(crate) fn for_log(&self) -> String {
        match self {
            Self::Invalid(detail) => format!("invalid: {detail}"),
            Self::Expired => "expired".to_owned(),
            Self::WrongAudience => "wrong audience".to_owned(),
            Self::Unavailable(detail) => format!("unavailable: {detail}"),
            Self::TooManyRequests => "too many requests".to_owned(),
        }
    }
}

/// What is learned of a request only if it is asked for.
pub(crate) trait Arrival {
    /// The URL of this server.
    fn resource(&self) -> Option<&SecureUrl>;
    /// Counts the request against the address that it comes from, once: whether that is still within its limit.
    fn count_address(&self) -> LocalBoxFuture<'_, bool>;
}

/// A token as it was sent, and what a validator may need to judge it.
#[derive(Clone, Copy)]
pub struct Presented<'a> {
    pub(crate) token: &'a str,
    pub(crate) host: &'a Rc<dyn Host>,
    pub(crate) arrival: &'a dyn Arrival,
}

impl<'a> Presented<'a> {
    /// The token: one or more of `A-Z a-z 0-9 - . _ ~ + / :`, then any number of `=`.
    pub fn token(&self) -> &'a str {
        self.token
    }

    /// The URL of this server, which an audience has to name. On an endpoint that has none, it is the request's own on localhost,
    /// and nothing elsewhere.
    pub fn resource(&self) -> Option<&'a SecureUrl> {
        self.arrival.resource()
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    pub fn now(&self) -> u64 {
        self.host.now_ms() / 1000
    }

    /// The machine, for what else a validator needs of it.
    pub fn host(&self) -> &'a dyn Host {
        &**self.host
    }

    /// To be asked before another server is: counts the request against its address, so that nobody can make this server ask
    /// without end.
    ///
    /// # Errors
    /// [`TokenRefusal::TooManyRequests`]
    pub async fn may_ask_elsewhere(&self) -> Result<(), TokenRefusal> {
        if self.arrival.count_address().await { Ok(()) } else { Err(TokenRefusal::TooManyRequests) }
    }
}

/// Decides whether a token is good, and whom it speaks for.
///
/// A validator answers for one token alone: it is asked again for every request, also of a caller it has seen before. Whatever
/// it says, a principal that has expired, or that has an audience without this server, does not pass.
///
/// An async function or closure is taken for one too:
///
/// ```
/// use edge_mcp::auth::{Presented, Principal, TokenRefusal};
/// use edge_mcp::{BuildError, Endpoint, McpServer, RequestInfo};
///
/// fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
///     McpServer::builder("empty", "1.0.0").build()
/// }
///
/// async fn by_length(presented: Presented<'_>) -> Result<Principal, TokenRefusal> {
///     match presented.token().len() {
///         64 => Ok(Principal::new("ada").with_scopes(["kb:read"])),
///         _ => Err(TokenRefusal::Invalid("it has another length".into())),
///     }
/// }
///
/// let endpoint = Endpoint::new(server).auth(by_length);
/// ```
pub trait TokenValidator {
    /// Judges a token.
    ///
    /// # Errors
    /// Why it is refused.
    fn validate(&self, presented: Presented<'_>) -> impl Future<Output = Result<Principal, TokenRefusal>>;

    /// Whether it compares audiences with the URL of this server. An endpoint that is on no localhost and has no such URL then
    /// serves nothing.
    fn needs_resource(&self) -> bool {
        false
    }
}

/// A validator whose type does not matter.
pub struct BoxValidator(Box<dyn AnyValidator>);

impl BoxValidator {
    /// Forgets the type of `validator`.
    pub fn new(validator: impl TokenValidator + 'static) -> Self {
        Self(Box::new(validator))
    }
}

impl TokenValidator for BoxValidator {
    async fn validate(&self, presented: Presented<'_>) -> Result<Principal, TokenRefusal> {
        self.0.validate_boxed(presented).await
    }

    fn needs_resource(&self) -> bool {
        self.0.needs_resource_boxed()
    }
}

trait AnyValidator {
    fn validate_boxed<'a>(&'a self, presented: Presented<'a>) -> LocalBoxFuture<'a, Result<Principal, TokenRefusal>>;
    fn needs_resource_boxed(&self) -> bool;
}

impl<V: TokenValidator> AnyValidator for V {
    fn validate_boxed<'a>(&'a self, presented: Presented<'a>) -> LocalBoxFuture<'a, Result<Principal, TokenRefusal>> {
        self.validate(presented).boxed_local()
    }

    fn needs_resource_boxed(&self) -> bool {
        self.needs_resource()
    }
}

/// What decides who may call: a [`TokenValidator`]; an async function or closure; or a `Result` of one of them, in which the
/// mistake in the configuration may be that left none. `Kind` is for the compiler to find out.
pub trait IntoValidator<Kind> {
    /// The validator.
    ///
    /// # Errors
    /// The mistake; the endpoint then answers 503 and names the variable.
    fn into_validator(self) -> Result<BoxValidator, ConfigError>;
}

/// The kind of validators themselves.
pub struct OfItsOwn;

/// The kind of functions.
pub struct OfFunction;

impl<V: TokenValidator + 'static> IntoValidator<OfItsOwn> for V {
    fn into_validator(self) -> Result<BoxValidator, ConfigError> {
        Ok(BoxValidator::new(self))
    }
}

impl<F: AsyncFn(Presented<'_>) -> Result<Principal, TokenRefusal> + 'static> IntoValidator<OfFunction> for F {
    fn into_validator(self) -> Result<BoxValidator, ConfigError> {
        Ok(BoxValidator::new(FunctionValidator(self)))
    }
}

impl<Kind, V: IntoValidator<Kind>> IntoValidator<Result<Kind, ConfigError>> for Result<V, ConfigError> {
    fn into_validator(self) -> Result<BoxValidator, ConfigError> {
        self?.into_validator()
    }
}

struct FunctionValidator<F>(F);

impl<F: AsyncFn(Presented<'_>) -> Result<Principal, TokenRefusal>> TokenValidator for FunctionValidator<F> {
    async fn validate(&self, presented: Presented<'_>) -> Result<Principal, TokenRefusal> {
        self.0(presented).await
    }
}
