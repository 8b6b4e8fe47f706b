//! Requests to other servers.

use std::fmt;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

/// What a fetch may take.
#[derive(Clone, Copy, Debug)]
pub struct FetchLimits {
    /// Time from its beginning to the last byte of the answer. Past it, the request is aborted.
    pub time: Duration,
    /// Bytes of the answer's body.
    pub bytes: usize,
}

/// An answer, whatever its status.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fetched {
    /// The status. A redirect is not followed: its 3xx is here.
    pub status: u16,
    /// The whole body.
    pub body: Vec<u8>,
    /// How long to wait before it is asked again, where the answer says so in seconds (`Retry-After`).
    pub retry_after: Option<Duration>,
}

impl Fetched {
    /// An answer that says nothing of when to ask again.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, body: body.into(), retry_after: None }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchError {
    /// It did not come in time.
    TooSlow,
    /// It is longer than the limit.
    TooLarge,
    /// The connection failed. The text is for the log.
    Failed(String),
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooSlow => f.write_str("it did not answer in time"),
            Self::TooLarge => f.write_str("its answer is too long"),
            Self::Failed(cause) => write!(f, "it cannot be reached: {cause}"),
        }
    }
}

impl std::error::Error for FetchError {}

/// Sends requests to other servers.
pub trait Fetch {
    /// Sends `request` and reads the answer. A future that is dropped before it is there aborts the request.
    ///
    /// # Errors
    /// [`FetchError`]; a status that says failure is none.
    fn fetch(
        &self,
        request: http::Request<String>,
        limits: FetchLimits,
    ) -> LocalBoxFuture<'static, Result<Fetched, FetchError>>;
}

/// A machine without a network: for tests, and for servers that ask nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offline;

impl Fetch for Offline {
    fn fetch(&self, _: http::Request<String>, _: FetchLimits) -> LocalBoxFuture<'static, Result<Fetched, FetchError>> {
        async { Err(FetchError::Failed("this machine has no network".into())) }.boxed_local()
    }
}
