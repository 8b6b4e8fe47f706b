//! Requests to other servers.

use std::fmt;
use std::time::Duration;

/// The limits of a request to another server.
#[derive(Clone, Copy, Debug)]
pub struct FetchLimits {
    /// The time from the start of the request to the last byte of the response. The request is aborted after it.
    pub time: Duration,
    /// The most bytes of the response's body.
    pub bytes: usize,
}

/// The response of another server, whatever its status.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fetched {
    /// The status. Redirects are not followed, so it may be a 3xx.
    pub status: u16,
    /// The whole body.
    pub body: Vec<u8>,
    /// The time after which to send the request again, if the response gives it in seconds (`Retry-After`).
    pub retry_after: Option<Duration>,
}

impl Fetched {
    /// A response without `Retry-After`.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, body: body.into(), retry_after: None }
    }
}

/// Why a request to another server has no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchError {
    /// The response did not arrive in time.
    TooSlow,
    /// The response is longer than the limit.
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
