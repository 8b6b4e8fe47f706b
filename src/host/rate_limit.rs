//! A counter of requests.

use std::fmt;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

type Count = dyn Fn(String) -> LocalBoxFuture<'static, Result<bool, String>>;

/// Counts requests by key, and rejects a key that is counted too often.
#[derive(Clone)]
pub struct RateLimit {
    period: Duration,
    count: Rc<Count>,
}

impl RateLimit {
    /// Makes a rate limit of a function that counts one request of a key, and returns whether the key is still within the limit.
    ///
    /// The limit is for `period`: a caller that is rejected may try again after it. An error of the function is written to the log, and
    /// the request passes, since a counter that fails must not close the server.
    ///
    /// ```
    /// use std::cell::Cell;
    /// use std::time::Duration;
    ///
    /// use edge_mcp::host::RateLimit;
    ///
    /// // A hundred requests, whoever sends them.
    /// let left = Cell::new(100_u32);
    /// let limit = RateLimit::new(Duration::from_secs(60), move |_key| {
    ///     let is_within = left.get() > 0;
    ///     left.set(left.get().saturating_sub(1));
    ///     async move { Ok(is_within) }
    /// });
    /// ```
    pub fn new<F>(period: Duration, count: impl Fn(String) -> F + 'static) -> Self
    where
        F: Future<Output = Result<bool, String>> + 'static,
    {
        Self { period, count: Rc::new(move |key| count(key).boxed_local()) }
    }

    pub(crate) fn admits(&self, key: String) -> LocalBoxFuture<'static, Result<bool, String>> {
        (self.count)(key)
    }

    pub(crate) fn period(&self) -> Duration {
        self.period
    }
}

impl fmt::Debug for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimit").field("period", &self.period).finish_non_exhaustive()
    }
}
