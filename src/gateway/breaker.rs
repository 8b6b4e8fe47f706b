//! The circuit breakers of a mounted server: after failures in a row, the server is not asked for a while.
//!
//! Only failures of transport count, such as a timeout. An error of a tool or a rejected token says that the server works. The counts belong
//! to the isolate.
//!
//! A server that cannot be reached fails for all callers. A slow answer, a rate limit or a crash of a tool belongs to the credential and the
//! arguments of one caller. So there is a breaker for all callers, and one for each caller. No caller closes the server for others.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use crate::bounded_cache::BoundedCache;
use crate::client::Failure;
use crate::host::{Host, Level, log};
use crate::limits::{
    GATEWAY_BUSY_SECONDS, GATEWAY_CALLERS, GATEWAY_FAILURES, GATEWAY_PAUSE_SECONDS, GATEWAY_PAUSES_SECONDS,
};

/// The circuit breakers of one server. Times are in milliseconds since 1970.
pub(super) struct Breakers {
    all: Rc<Breaker>,
    /// The breakers of callers, by their keys.
    callers: RefCell<BoundedCache<String, Rc<Breaker>>>,
}

/// A circuit breaker.
#[derive(Default)]
struct Breaker(Cell<State>);

#[derive(Clone, Copy, Default)]
struct State {
    /// The failures in a row.
    failures: u32,
    /// The length of the last pause.
    pause: u64,
    /// The end of the pause.
    until: u64,
}

/// A request that both breakers let through.
pub(super) struct Permits {
    caller: Permit,
    all: Permit,
}

/// A request that a breaker lets through. A request without an outcome, such as one whose caller has left, says nothing about the server.
/// So if it was the first one after a pause, the next request is let through instead.
struct Permit {
    breaker: Rc<Breaker>,
    /// For the first request after a pause: the time at which another one is let through.
    probe: Option<u64>,
}

/// What the outcome of a request says about the server. A failure has the time after which the server wants to be asked again, if it states one.
enum Evidence {
    /// Nothing: the problem is one of this program or of its caller.
    Nothing,
    Works,
    FailsForCaller(Option<Duration>),
    FailsForAll(Option<Duration>),
}

impl Evidence {
    /// Returns what the outcome of a request says. `is_untrusted` is whether a user chose the server: the failures of such a server do not tell a
    /// timeout from a server that cannot be reached.
    fn of(failure: Option<&Failure>, is_untrusted: bool) -> Self {
        match failure {
            Some(Failure::Local(_) | Failure::BudgetExhausted | Failure::Earlier(_)) => Self::Nothing,
            Some(Failure::TooManyRequests { after }) => Self::FailsForCaller(*after),
            Some(Failure::Unavailable { after }) => Self::FailsForAll(*after),
            Some(Failure::Unreachable(_)) if !is_untrusted => Self::FailsForAll(None),
            // A proxy answers instead of the server.
            Some(Failure::ServerFailed { status: 502 | 504 | 520..=530 }) => Self::FailsForAll(None),
            Some(failure) if failure.is_outage() => Self::FailsForCaller(None),
            _ => Self::Works,
        }
    }
}

impl Default for Breakers {
    fn default() -> Self {
        Self { all: Rc::default(), callers: RefCell::new(BoundedCache::new(GATEWAY_CALLERS)) }
    }
}

impl Breakers {
    /// Lets a request of the caller with the key `caller` through, or returns the rest of the pause. After a pause, one request is let through. The
    /// others wait for its outcome.
    pub(super) fn permit(&self, caller: String, now: u64) -> Result<Permits, Duration> {
        let caller = self.of_caller(caller, now).permit(now)?;
        Ok(Permits { caller, all: self.all.clone().permit(now)? })
    }

    /// Returns the breaker of a caller. It is kept for twice the longest pause from now on.
    fn of_caller(&self, caller: String, now: u64) -> Rc<Breaker> {
        let mut callers = self.callers.borrow_mut();
        let breaker = callers.get(&caller, now).cloned().unwrap_or_default();
        let expires = now.saturating_add(milliseconds(GATEWAY_PAUSES_SECONDS).saturating_mul(2));
        callers.insert(caller, breaker.clone(), expires, now);
        breaker
    }
}

impl Permits {
    /// Notes the outcome of a request that was sent.
    pub(super) fn note(self, failure: Option<&Failure>, mount: &str, is_untrusted: bool, host: &Rc<dyn Host>) {
        let Self { caller, all } = self;
        match Evidence::of(failure, is_untrusted) {
            Evidence::Nothing => {}
            Evidence::Works => {
                caller.note(Ok(()), mount, " for a caller", host);
                all.note(Ok(()), mount, "", host);
            }
            Evidence::FailsForCaller(after) => caller.note(Err(after), mount, " for a caller", host),
            Evidence::FailsForAll(after) => all.note(Err(after), mount, "", host),
        }
    }
}

impl Breaker {
    fn permit(self: Rc<Self>, now: u64) -> Result<Permit, Duration> {
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

impl Permit {
    /// Notes that the server works, or that it failed. `whom` says in the log for whom.
    fn note(mut self, outcome: Result<(), Option<Duration>>, mount: &str, whom: &str, host: &Rc<dyn Host>) {
        let (before, now) = (self.breaker.0.get(), host.now_ms());
        let is_paused = before.failures >= GATEWAY_FAILURES;
        let state = match outcome {
            Ok(()) => State::default(),
            Err(Some(after)) => {
                let pause = milliseconds(after.as_secs().clamp(1, GATEWAY_BUSY_SECONDS));
                let until = now.saturating_add(pause);
                // A request from before the pause does not shorten it.
                State { until: if self.probe.is_some() { until } else { until.max(before.until) }, ..before }
            }
            // Requests that were sent before the pause do not lengthen it.
            Err(None) if is_paused && self.probe.is_none() => return,
            Err(None) => failed(before, now),
        };
        self.probe = None;
        self.breaker.0.set(state);
        match (is_paused, state.failures >= GATEWAY_FAILURES) {
            (false, true) => {
                let seconds = state.pause.checked_div(1000).unwrap_or_default();
                let problem = format!(
                    "the server `{mount}` failed {GATEWAY_FAILURES} times in a row{whom}, and is not asked{whom} for {seconds} s"
                );
                log::warning(host, "gateway", &problem);
            }
            (true, false) => {
                log::line(host, Level::Info, "gateway", &format!("the server `{mount}` answers again{whom}"));
            }
            _ => {}
        }
    }
}

impl Drop for Permit {
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
