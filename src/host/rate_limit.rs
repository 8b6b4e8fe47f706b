//! A counter of requests.

use std::fmt;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

type Count = dyn Fn(String) -> LocalBoxFuture<'static, Result<bool, String>>;

/// Counts requests by key, and rejects the requests of a key beyond its limit.
#[derive(Clone)]
pub struct RateLimit {
    period: Duration,
    count: Rc<Count>,
}

impl RateLimit {
    /// Creates a rate limit from `count`, a function that counts one request of a key and returns whether the key is within the limit.
    ///
    /// A rejected caller may try again after `period`. If the function returns an error, the error is logged and the request passes,
    /// because a failing counter must not make the server unavailable.
    ///
    /// ```
    /// use std::cell::Cell;
    /// use std::time::Duration;
    ///
    /// use edge_mcp::host::RateLimit;
    ///
    /// // Allows 100 requests, all keys together.
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
