//! The interface of the core to the machine that it runs on.
//!
//! The core does not perform I/O itself: it does not read a clock, write a log or start a task. Three traits give it access to these:
//! [`Host`], the [`Request`] that it answers, and the [`Environment`] that configures it. `edge_mcp::worker` implements them on
//! Cloudflare Workers, and [`edge_mcp::testing`](crate::testing) implements them for tests.

mod environment;
mod fetch;
pub(crate) mod log;
mod open;
mod rate_limit;
mod request;
mod signature;
mod task_objects;
mod telemetry;
#[cfg(feature = "client")]
pub(crate) mod transport;
mod url;

use std::fmt;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use http::HeaderMap;

pub use environment::Environment;
pub use fetch::{FetchError, FetchLimits, Fetched};
pub(crate) use open::in_time;
pub use open::{Opened, Outbound};
pub use rate_limit::RateLimit;
pub use request::{BodyError, Request};
pub use signature::{CannotCheck, CannotSign, PrivateKey, PublicKey};
pub use task_objects::{TaskObjects, TaskRows};
pub(crate) use telemetry::target_attribute;
pub use telemetry::{Operation, Outcome, Span, Telemetry};
pub use url::{LOCAL_HOSTS, path_of};
pub(crate) use url::{host_of, is_local, is_on_localhost, is_same_url, origin_of, query_of};

/// The machine that the core runs on.
///
/// A host without a network does not have to implement [`open`](Self::open). A host without cryptography does not have to implement
/// [`verify`](Self::verify) and [`sign`](Self::sign).
pub trait Host {
    /// Returns the current time, in milliseconds since 1970-01-01T00:00:00Z.
    ///
    /// On Workers the clock advances only while a request waits for I/O.
    fn now_ms(&self) -> u64;

    /// Returns a future that is ready after `time`.
    fn sleep(&self, time: Duration) -> LocalBoxFuture<'static, ()>;

    /// Runs `task` to its end, concurrently with the caller. The task may outlive the response.
    fn spawn(&self, task: LocalBoxFuture<'static, ()>);

    /// Fills `bytes` with cryptographically secure random bytes.
    ///
    /// # Errors
    /// [`NoRandomness`] if the host cannot generate random bytes.
    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), NoRandomness>;

    /// Writes one line of JSON, without a line break, to the log.
    fn log(&self, level: Level, line: &str);

    /// Sends a request to another server and returns the head of the response. The caller reads the body. Redirects are not followed.
    /// Dropping the future or the response aborts the request.
    ///
    /// The default implementation fails, because it has no network.
    ///
    /// # Errors
    /// [`FetchError`]. A response with an error status is not an error.
    fn open(&self, request: Outbound) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let _ = request;
        std::future::ready(Err(FetchError::Failed("this host has no network".into()))).boxed_local()
    }

    /// Sends a request to another server and reads the response. Redirects are not followed. Dropping the future aborts the request.
    ///
    /// The default implementation uses [`open`](Self::open) and [`sleep`](Self::sleep).
    ///
    /// # Errors
    /// [`FetchError`]. A response with an error status is not an error.
    fn fetch(
        &self,
        request: http::Request<String>,
        limits: FetchLimits,
    ) -> LocalBoxFuture<'static, Result<Fetched, FetchError>> {
        open::within_limits(self.open(request.into()), self.sleep(limits.time), limits.bytes).boxed_local()
    }

    /// Returns whether `key` verifies `signature` as a signature of `message`. Returns `false` for bytes that are not a well-formed
    /// signature or key.
    ///
    /// The default implementation fails, because it does not support any algorithm.
    ///
    /// # Errors
    /// [`CannotCheck`] if the host does not support the algorithm of the key.
    fn verify(
        &self,
        key: PublicKey,
        message: Vec<u8>,
        signature: Vec<u8>,
    ) -> LocalBoxFuture<'static, Result<bool, CannotCheck>> {
        let _ = (key, message, signature);
        std::future::ready(Err(CannotCheck("this host has no signature algorithms".into()))).boxed_local()
    }

    /// Returns the signature of `message` by `key`.
    ///
    /// The default implementation fails, because it does not support any algorithm.
    ///
    /// # Errors
    /// [`CannotSign`] if the host does not support the algorithm of the key, or the bytes are not such a key.
    fn sign(&self, key: PrivateKey, message: Vec<u8>) -> LocalBoxFuture<'static, Result<Vec<u8>, CannotSign>> {
        let _ = (key, message);
        std::future::ready(Err(CannotSign("this host has no signature algorithms".into()))).boxed_local()
    }

    /// Stores the headers that the host adds to its answer to this request if the program crashes.
    ///
    /// The default implementation does nothing. It is for hosts that do not outlive a crash of the program.
    fn keep_crash_headers(&self, headers: &HeaderMap) {
        let _ = headers;
    }

    /// Stores the answer that the host gives to this request if the program crashes.
    ///
    /// The default implementation does nothing. It is for hosts that do not outlive a crash of the program.
    fn keep_crash_answer(&self, answer: CrashAnswer<'_>) {
        let _ = answer;
    }
}

/// The answer that the host gives if the program crashes during a request: an error for each id, and a log line.
#[derive(Clone, Copy, Debug)]
pub struct CrashAnswer<'a> {
    /// The ids of the requests as JSON text, as they were sent. If the list is empty, the answer is one error without an id.
    pub ids: &'a [&'a str],
    /// Whether the answer is an array.
    pub is_batch: bool,
    /// The beginning of the log line: a JSON object without its end. `,"status":…,"error":…,"ms":…}` completes it.
    pub log_line: &'a [u8],
}

/// The error of a host that cannot generate random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRandomness;

impl fmt::Display for NoRandomness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the host cannot generate random bytes")
    }
}

impl std::error::Error for NoRandomness {}

/// The severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// An event of normal operation.
    Info,
    /// The server works, but not as intended.
    Warning,
    /// A request failed, and the operator has to act.
    Error,
}
