//! The circuit breaker of a mounted server: after failures in a row, the server is not asked for a while.
//!
//! Only failures of transport count, such as a timeout. An error of a tool or a rejected token says that the server works. The counts belong
//! to the isolate.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use crate::client::Failure;
use crate::host::{Host, Level, warning};
use crate::limits::{GATEWAY_BUSY_SECONDS, GATEWAY_FAILURES, GATEWAY_PAUSE_SECONDS, GATEWAY_PAUSES_SECONDS};

/// The circuit breaker of one server. Times are in milliseconds since 1970.
#[derive(Default)]
pub(super) struct Breaker(Cell<State>);

#[derive(Clone, Copy, Default)]
struct State {
    /// The failures in a row.
    failures: u32,
    /// The length of the last pause.
    pause: u64,
    /// The end of the pause.
    until: u64,
}

/// A request that the breaker lets through. A request without an outcome, such as one whose caller has left, says nothing about the server.
/// So if it was the first one after a pause, the next request is let through instead.
pub(super) struct Permit<'b> {
    breaker: &'b Breaker,
    /// For the first request after a pause: the time at which another one is let through.
    probe: Option<u64>,
}

impl Breaker {
    /// Lets a request through, or returns the rest of the pause. After a pause, one request is let through. The others wait for its outcome.
    pub(super) fn permit(&self, now: u64) -> Result<Permit<'_>, Duration> {
        let mut state = self.0.get();
        if let Some(rest) = state.until.checked_sub(now).filter(|rest| *rest > 0) {
            return Err(Duration::from_millis(rest));
        }
        let mut probe = None;
        if state.failures >= GATEWAY_FAILURES {
            state.until = now.saturating_add(milliseconds(GATEWAY_PAUSE_SECONDS));
            probe = Some(state.until);
            self.0.set(state);
        }
        Ok(Permit { breaker: self, probe })
    }
}

impl Permit<'_> {
    /// Notes the outcome of a request that was sent.
    pub(super) fn note(mut self, failure: Option<&Failure>, mount: &str, host: &Rc<dyn Host>) {
        let (before, now) = (self.breaker.0.get(), host.now_ms());
        let is_paused = before.failures >= GATEWAY_FAILURES;
        let state = match failure {
            // A problem of this program, or of its caller.
            Some(Failure::Local(_) | Failure::BudgetExhausted | Failure::Earlier(_)) => return,
            Some(Failure::Unavailable { after: Some(after) }) => {
                let pause = milliseconds(after.as_secs().clamp(1, GATEWAY_BUSY_SECONDS));
                let until = now.saturating_add(pause);
                // A request from before the pause does not shorten it.
                State { until: if self.probe.is_some() { until } else { until.max(before.until) }, ..before }
            }
            // Requests that were sent before the pause do not lengthen it.
            Some(failure) if failure.is_outage() && is_paused && self.probe.is_none() => return,
            Some(failure) if failure.is_outage() => failed(before, now),
            _ => State::default(),
        };
        self.probe = None;
        self.breaker.0.set(state);
        match (is_paused, state.failures >= GATEWAY_FAILURES) {
            (false, true) => {
                let seconds = state.pause.checked_div(1000).unwrap_or_default();
                let problem = format!(
                    "the server `{mount}` failed {GATEWAY_FAILURES} times in a row, and is not asked for {seconds} s"
                );
                warning::log(host, Level::Warning, "gateway", &problem);
            }
            (true, false) => warning::log(host, Level::Info, "gateway", &format!("the server `{mount}` answers again")),
            _ => {}
        }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let state = self.breaker.0.get();
        if self.probe == Some(state.until) {
            self.breaker.0.set(State { until: 0, ..state });
        }
    }
}

/// Returns the state after a failure. Each failure after a pause doubles the pause.
fn failed(State { failures, pause, until }: State, now: u64) -> State {
    let failures = failures.saturating_add(1);
    if failures < GATEWAY_FAILURES {
        return State { failures, pause, until };
    }
    let first = milliseconds(GATEWAY_PAUSE_SECONDS);
    let pause = pause.saturating_mul(2).clamp(first, milliseconds(GATEWAY_PAUSES_SECONDS));
    State { failures, pause, until: now.saturating_add(pause) }
}

fn milliseconds(seconds: u64) -> u64 {
    seconds.saturating_mul(1000)
}
