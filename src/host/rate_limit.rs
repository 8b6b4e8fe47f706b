//! Counting requests.

use std::time::Duration;

use futures::future::LocalBoxFuture;

/// Counts requests by key, and says when there have been too many of one.
pub trait RateLimit {
    /// Counts a request of `key`: whether it is still within the limit.
    ///
    /// # Errors
    /// Why it could not be counted, for the log. The request then passes: a counter that fails must not close the server.
    fn admits(&self, key: String) -> LocalBoxFuture<'_, Result<bool, String>>;

    /// The time that the limit is for, after which a caller that was refused may try again.
    fn period(&self) -> Duration;
}
