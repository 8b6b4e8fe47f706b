//! The clock of a test host, and its timer.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::unwatched::Unwatched;

/// The time at the start of a test, in milliseconds since 1970: 2027-01-15T08:00:00Z.
pub(super) const START_MS: u64 = 1_800_000_000_000;

/// A clock that changes only when it is set or advanced.
pub(super) struct Clock {
    now_ms: Cell<u64>,
    alarms: RefCell<BTreeMap<AlarmKey, Option<Waker>>>,
    /// The number of alarms so far.
    count: Cell<u64>,
    /// The steps by which [`skip`](Self::skip) has advanced the clock.
    waits: RefCell<Vec<Duration>>,
}

/// The time at which an alarm is due, and its number.
type AlarmKey = (u64, u64);

impl Clock {
    pub(super) fn new() -> Self {
        Self { now_ms: Cell::new(START_MS), alarms: RefCell::default(), count: Cell::new(0), waits: RefCell::default() }
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.now_ms.get()
    }

    /// Sets the time, and wakes the tasks whose alarms are due.
    pub(super) fn set(&self, now_ms: u64) {
        self.now_ms.set(now_ms);
        let due = |((at, _), waker): (&AlarmKey, &mut Option<Waker>)| if *at <= now_ms { waker.take() } else { None };
        let due: Vec<Waker> = self.alarms.borrow_mut().iter_mut().filter_map(due).collect();
        due.into_iter().for_each(Waker::wake);
    }

    pub(super) fn advance(&self, time: Duration) {
        self.set(self.after(time));
    }

    /// Advances the clock to the next alarm, if it is due within `limit_ms`. Returns the time that has passed, in milliseconds.
    pub(super) fn skip(&self, limit_ms: u64) -> Option<u64> {
        let now = self.now_ms();
        let next = self.alarms.borrow().keys().map(|(at, _)| *at).find(|at| *at > now)?;
        let passed = next.saturating_sub(now);
        (passed <= limit_ms).then(|| self.set(next))?;
        self.waits.borrow_mut().push(Duration::from_millis(passed));
        Some(passed)
    }

    pub(super) fn waits(&self) -> Vec<Duration> {
        self.waits.borrow().clone()
    }

    pub(super) fn sleep(self: &Rc<Self>, time: Duration) -> impl Future<Output = ()> + 'static {
        let number = self.count.get();
        self.count.set(number.wrapping_add(1));
        Alarm { key: (self.after(time), number), clock: self.clone(), unwatched: None }
    }

    fn after(&self, time: Duration) -> u64 {
        self.now_ms().saturating_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }
}

/// A future that is ready when its time is reached.
struct Alarm {
    key: AlarmKey,
    clock: Rc<Clock>,
    unwatched: Option<Unwatched>,
}

impl Future for Alarm {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        self.unwatched = None;
        if self.key.0 <= self.clock.now_ms() {
            return Poll::Ready(());
        }
        self.unwatched = Unwatched::count();
        self.clock.alarms.borrow_mut().insert(self.key, Some(task.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.clock.alarms.borrow_mut().remove(&self.key);
    }
}
