//! Requests to other servers.

use std::fmt;
use std::time::Duration;

use edge_json::deserialize::read;
use edge_json::{Document, JsonLimits};
use serde::de::DeserializeOwned;

use crate::limits::{FETCH_BYTES, FETCH_SECONDS};

/// The limits of a request to another server. The defaults are 10 s and 1 MiB.
#[derive(Clone, Copy, Debug)]
pub struct FetchLimits {
    /// The longest time from the start of the request to the last byte of the response. After this time the request is aborted.
    pub time: Duration,
    /// The maximum size of the response body, in bytes.
    pub bytes: usize,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(FETCH_SECONDS), bytes: FETCH_BYTES }
    }
}

/// The response of another server, with any status.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fetched {
    /// The status. Redirects are not followed, so it may be a 3xx.
    pub status: u16,
    /// The whole body.
    pub body: Vec<u8>,
    /// The delay before the next attempt, if the response states it in seconds (`Retry-After`).
    pub retry_after: Option<Duration>,
}

impl Fetched {
    /// Creates a response without `Retry-After`.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, body: body.into(), retry_after: None }
    }

    /// Sets the delay before the next attempt, for a response that a test prepares.
    #[must_use]
    pub fn retry_after(self, time: Duration) -> Self {
        Self { retry_after: Some(time), ..self }
    }

    /// Returns the response if its status is 2xx.
    ///
    /// # Errors
    /// [`FetchError::Status`] for every other status.
    pub fn success(self) -> Result<Self, FetchError> {
        if (200..300).contains(&self.status) { Ok(self) } else { Err(FetchError::Status(self.status)) }
    }

    /// Returns the status for the log. If Cloudflare does not let this Worker call the URL, the text says what to do.
    ///
    /// Source: Cloudflare's documentation, "1xxx errors".
    pub(crate) fn status_for_log(&self) -> String {
        const LOOP: [&[u8]; 2] = [b"error code: 1019", b"error code: 1042"];
        let is_same_zone = self.status == 530 && LOOP.contains(&self.body.trim_ascii());
        let remedy = if is_same_zone {
            ", because its URL is on the zone of this Worker: use another host, or set the flag `global_fetch_strictly_public`"
        } else {
            ""
        };
        format!("status {}{remedy}", self.status)
    }

    /// Deserializes the body from JSON. A struct cannot be deserialized from an array.
    ///
    /// # Errors
    /// [`FetchError::Malformed`] if the body is not JSON, or not a `T`.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, FetchError> {
        let document = Document::parse(&self.body, JsonLimits::MOST);
        let document = document.map_err(|error| FetchError::Malformed(error.to_string()))?;
        read(document.root()).map_err(|error| FetchError::Malformed(error.to_string()))
    }
}

/// The reason why a request to another server failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchError {
    /// The response did not arrive in time.
    TooSlow,
    /// The response is longer than the limit.
    TooLarge,
    /// The connection failed. The text is for the log.
    Failed(String),
    /// The status of the response is not 2xx: see [`Fetched::success`].
    Status(u16),
    /// The body does not have the expected form: see [`Fetched::json`]. The text is for the log.
    Malformed(String),
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooSlow => f.write_str("the other server did not answer in time"),
            Self::TooLarge => f.write_str("the answer of the other server is too long"),
            Self::Failed(cause) => write!(f, "the other server cannot be reached: {cause}"),
            Self::Status(status) => write!(f, "the other server answers with status {status}"),
            Self::Malformed(problem) => write!(f, "the answer of the other server cannot be read: {problem}"),
        }
    }
}

impl std::error::Error for FetchError {}
