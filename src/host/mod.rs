//! What the core asks of the machine it runs on.
//!
//! The core reads no clock, writes no log and starts no task of its own; whoever embeds it hands all of that over in a
//! [`Host`]. On Cloudflare Workers that is `edge_mcp::worker`; a test hands over a clock that stands still and a log that it
//! reads afterwards.

mod body;
mod environment;
mod fetch;
mod head;
mod rate_limit;
mod signature;
mod url;
pub(crate) mod warning;

use std::rc::Rc;
use std::time::Duration;

use futures::future::LocalBoxFuture;
use http::HeaderMap;

pub use body::{BodyError, RequestBody};
pub use environment::Environment;
pub use fetch::{Fetch, FetchError, FetchLimits, Fetched, Offline};
pub use head::RequestHead;
pub use rate_limit::RateLimit;
pub use signature::{CannotCheck, PublicKey, SignatureCheck};
pub use url::{LOCAL_HOSTS, path_of};
pub(crate) use url::{host_of, is_local, is_on_localhost, is_same_url, origin_of};

/// Tells the time.
pub trait Clock {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    ///
    /// On Workers the clock advances only when the request waits for something outside.
    fn now_ms(&self) -> u64;
}

/// Waits.
pub trait Timer {
    /// Is ready after `time`.
    fn sleep(&self, time: Duration) -> LocalBoxFuture<'static, ()>;
}

/// Runs what goes on after an answer has begun, and answers requests in place of a program that has crashed.
pub trait Tasks {
    /// Runs `task` to its end, beside the caller.
    fn spawn(&self, task: LocalBoxFuture<'static, ()>);

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

/// Gives random bytes.
pub trait Randomness {
    /// Fills `bytes` with what nobody can guess.
    ///
    /// # Errors
    /// [`NoRandomness`]
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoRandomness>;
}

/// The machine has no random bytes to give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRandomness;

impl std::fmt::Display for NoRandomness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the machine has no random bytes to give")
    }
}

impl std::error::Error for NoRandomness {}

/// How much a log line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// What happened.
    Info,
    /// What is served, but not as it should be.
    Warning,
    /// What could not be served, and the operator has to mend.
    Error,
}

/// Takes log lines.
pub trait Log {
    /// Takes one line of JSON, without a line break.
    fn write(&self, level: Level, line: &str);
}

/// The machine the core runs on.
#[derive(Clone)]
pub struct Host {
    /// Tells the time.
    pub clock: Rc<dyn Clock>,
    /// Waits.
    pub timer: Rc<dyn Timer>,
    /// Runs what goes on after an answer has begun.
    pub tasks: Rc<dyn Tasks>,
    /// Gives random bytes.
    pub randomness: Rc<dyn Randomness>,
    /// Takes log lines.
    pub log: Rc<dyn Log>,
    /// Sends requests to other servers.
    pub fetch: Rc<dyn Fetch>,
    /// Checks signatures.
    pub signatures: Rc<dyn SignatureCheck>,
}
