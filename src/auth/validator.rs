//! What decides whether a token is good.

use futures::future::LocalBoxFuture;

use super::principal::Principal;

/// Why a token was refused. The caller learns no more than this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenRefusal {
    /// It is not known, or not well-formed.
    Invalid,
    /// It was good once.
    Expired,
}

impl TokenRefusal {
    /// The sentence the caller gets.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Invalid => "The access token is not valid for this server.",
            Self::Expired => "The access token has expired.",
        }
    }
}

/// Decides whether a token is good, and whom it speaks for.
///
/// A validator answers for one token alone: it is asked again for every request, also of a caller it has seen before.
pub trait TokenValidator {
    /// Judges `token`, at `now` seconds since 1970-01-01T00:00:00Z.
    fn validate<'a>(&'a self, token: &'a str, now: u64) -> LocalBoxFuture<'a, Result<Principal, TokenRefusal>>;
}
