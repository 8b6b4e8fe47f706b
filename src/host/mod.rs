//! What the core needs from the machine that it runs on.
//!
//! The core does no I/O: it reads no clock, writes no log and starts no task. Three traits give it access to these: [`Host`], the
//! [`Request`] that it answers, and the [`Environment`] that configures it. On Cloudflare Workers they are implemented by
//! `edge_mcp::worker`, and for tests by [`edge_mcp::testing`](crate::testing).

mod environment;
mod fetch;
#[cfg(feature = "client")]
mod open;
mod rate_limit;
mod request;
mod signature;
mod url;
pub(crate) mod warning;

use std::fmt;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use http::HeaderMap;

pub use environment::Environment;
pub use fetch::{FetchError, FetchLimits, Fetched};
#[cfg(feature = "client")]
pub use open::Opened;
pub use rate_limit::RateLimit;
pub use request::{BodyError, Request};
pub use signature::{CannotCheck, PublicKey};
pub use url::{LOCAL_HOSTS, path_of};
pub(crate) use url::{host_of, is_local, is_on_localhost, is_same_url, origin_of};

/// The machine that the core runs on.
///
/// A host without a network or without cryptography leaves out [`fetch`](Self::fetch) or [`verify`](Self::verify).
pub trait Host {
    /// Returns the time, in milliseconds since 1970-01-01T00:00:00Z.
    ///
    /// On Workers the clock advances only while a request waits for I/O.
    fn now_ms(&self) -> u64;

    /// Returns a future that is ready after `time`.
    fn sleep(&self, time: Duration) -> LocalBoxFuture<'static, ()>;

    /// Runs `task` to its end, concurrently with the caller. It may outlive the response.
    fn spawn(&self, task: LocalBoxFuture<'static, ()>);

    /// Fills `bytes` with random bytes that are fit for cryptography.
    ///
    /// # Errors
    /// [`NoRandomness`] if the machine has none.
    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), NoRandomness>;

    /// Writes one line of JSON, without a line break, to the log.
    fn log(&self, level: Level, line: &str);

    /// Sends a request to another server and reads the response. Redirects are not followed. Dropping the future aborts the request.
    ///
    /// The default has no network, and fails.
    ///
    /// # Errors
    /// [`FetchError`]. A response with an error status is not an error.
    fn fetch(
        &self,
        request: http::Request<String>,
        limits: FetchLimits,
    ) -> LocalBoxFuture<'static, Result<Fetched, FetchError>> {
        let _ = (request, limits);
        std::future::ready(Err(FetchError::Failed("this host has no network".into()))).boxed_local()
    }

    /// Sends a request to another server and returns the head of the response. The caller reads the body. Redirects are not followed.
    /// Dropping the future or the response aborts the request.
    ///
    /// The default has no network, and fails.
    ///
    /// # Errors
    /// [`FetchError`]. A response with an error status is not an error.
    #[cfg(feature = "client")]
    fn open(&self, request: http::Request<String>) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let _ = request;
        std::future::ready(Err(FetchError::Failed("this host has no network".into()))).boxed_local()
    }

    /// Returns whether `signature` is a signature of `message` by the holder of `key`. Bytes that cannot be a signature or a key give
    /// `false`.
    ///
    /// The default knows no algorithm, and fails.
    ///
    /// # Errors
    /// [`CannotCheck`] if the machine does not have the algorithm.
    fn verify(
        &self,
        key: PublicKey,
        message: Vec<u8>,
        signature: Vec<u8>,
    ) -> LocalBoxFuture<'static, Result<bool, CannotCheck>> {
        let _ = (key, message, signature);
        std::future::ready(Err(CannotCheck("this host has no signature algorithms".into()))).boxed_local()
    }

    /// Keeps the headers that the host adds to its answer to this request if the program crashes.
    ///
    /// The default keeps nothing: it is for hosts that do not outlive a crash of the program.
    fn keep_crash_headers(&self, headers: &HeaderMap) {
        let _ = headers;
    }

    /// Keeps the answer that the host gives to this request if the program crashes.
    ///
    /// The default keeps nothing: it is for hosts that do not outlive a crash of the program.
    fn keep_crash_answer(&self, answer: CrashAnswer<'_>) {
        let _ = answer;
    }
}

/// The answer to a request whose program crashes: an error for each id, and a log line.
#[derive(Clone, Copy, Debug)]
pub struct CrashAnswer<'a> {
    /// The ids of the requests as JSON text, as they were sent. Without any, the answer is one error without an id.
    pub ids: &'a [&'a str],
    /// Whether the answer is an array.
    pub is_batch: bool,
    /// The beginning of the log line: a JSON object without its end. `,"status":…,"error":…,"ms":…}` completes it.
    pub log_line: &'a [u8],
}

/// The machine has no random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRandomness;

impl fmt::Display for NoRandomness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the machine has no random bytes to give")
    }
}

impl std::error::Error for NoRandomness {}

/// The severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// An event of normal operation.
    Info,
    /// The server works, but not as it should.
    Warning,
    /// A request failed, and the operator has to act.
    Error,
}
