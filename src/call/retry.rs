//! Work that is tried again later, because the reason of its failure is temporary.

use std::fmt::Display;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::call_path::CallPath;
use super::context::Context;
use super::error::{Again, HandlerError};
use super::step::Step;
use crate::host::log;
use crate::limits::{RETRY_AFTER_SECONDS, RETRY_SECONDS};

/// The pause after the first attempt. It doubles with each further attempt.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

impl Context {
    /// Runs `work` as a [step](Self::step), and runs it again after a pause while it fails with an error of
    /// [`HandlerError::try_again`]. There are at most `attempts` in total. Every other error ends the step at once.
    ///
    /// The pause is the one that the error names, at most an hour. Without one, it is 1 s after the first attempt, and doubles up to a minute.
    /// In a durable task, the pause is a [`sleep`](Self::sleep): it survives a restart, and a finished attempt is not repeated. Outside of a
    /// task, the handler waits in memory. If its deadline would pass in the pause, the error is returned at once.
    ///
    /// All attempts have the [`idempotency_key`](Self::idempotency_key) of the step. A step within `work` has another one in each attempt.
    ///
    /// # Errors
    /// The error of the last attempt.
    ///
    /// ```
    /// use edge_mcp::host::FetchLimits;
    /// use edge_mcp::{Context, HandlerError, ResultExt};
    ///
    /// async fn rate(currency: &str, cx: &Context) -> Result<f64, HandlerError> {
    ///     let url = format!("https://rates.example/{currency}");
    ///     let attempt = async || {
    ///         let request = http::Request::get(&url).body("")?;
    ///         let response = cx.fetch(request, FetchLimits::default()).await.message("The rates cannot be reached.")?;
    ///         if response.status == 429 {
    ///             return Err(HandlerError::new("There are no rates now.").try_again(response.retry_after));
    ///         }
    ///         Ok(response.success()?.json()?)
    ///     };
    ///     cx.retry("rate", &currency, 5, attempt).await
    /// }
    /// ```
    pub fn retry<'a, T, W>(&self, name: impl Display, input: &impl Serialize, attempts: u32, work: W) -> Step<'a, T>
    where
        T: Serialize + DeserializeOwned + 'a,
        W: AsyncFn() -> Result<T, HandlerError> + 'a,
    {
        let (cx, step) = (self.clone(), name.to_string());
        self.step(name, input, async move || {
            for attempt in 1..attempts {
                // A durable task stores the outcome, so that a later attempt of the task continues after the pause.
                let outcome = async || match work().await {
                    Ok(value) => Ok(Ok(value)),
                    Err(error) => match cx.pause_after(&error, attempt) {
                        Some(pause) => {
                            cx.warn_of_pause(&step, attempt, pause, &error);
                            Ok(Err(u64::try_from(pause.as_millis()).unwrap_or(u64::MAX)))
                        }
                        None => Err(error),
                    },
                };
                match cx.step_at(CallPath::of_attempt, "attempt", &attempt, outcome).await? {
                    Ok(value) => return Ok(value),
                    Err(pause_ms) => cx.sleep(Duration::from_millis(pause_ms)).await,
                }
            }
            work().await
        })
    }

    /// Returns the pause after an attempt with this number and error. Returns `None` if there is no further attempt.
    fn pause_after(&self, error: &HandlerError, attempt: u32) -> Option<Duration> {
        let pause = match error.0.again? {
            Again::After(time) => time.min(Duration::from_secs(RETRY_AFTER_SECONDS)),
            Again::Unknown => {
                let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
                FIRST_PAUSE.saturating_mul(doubled).min(Duration::from_secs(RETRY_SECONDS))
            }
        };
        // Only a handler outside of a durable task waits within its deadline.
        let is_too_long = self.task().is_none() && self.time_left().is_some_and(|left| pause >= left);
        (!is_too_long).then_some(pause)
    }

    fn warn_of_pause(&self, step: &str, attempt: u32, pause: Duration, error: &HandlerError) {
        let cause = error.0.cause.as_ref().map_or_else(String::new, |cause| format!(": {cause}"));
        let problem =
            format!("attempt {attempt} of step `{step}` failed, and the next one follows in {pause:?}{cause}");
        log::warning(self.host(), "retry", &problem);
    }
}
