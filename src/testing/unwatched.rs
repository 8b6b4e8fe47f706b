//! The alarms and tasks of hosts that no run of a host watches. They never end, because only such a run advances the clock and polls the tasks.

use std::cell::Cell;

thread_local! {
    /// The number of runs of hosts that are polling on this thread.
    static RUNS: Cell<usize> = const { Cell::new(0) };
    static UNWATCHED: Cell<usize> = const { Cell::new(0) };
}

/// Returns whether an alarm or a task waits on this thread that no run of a host watches.
pub(super) fn exists() -> bool {
    UNWATCHED.get() > 0
}

/// A guard that lasts while a run of a host polls.
pub(super) struct Watch;

impl Watch {
    pub(super) fn begin() -> Self {
        RUNS.set(RUNS.get().saturating_add(1));
        Self
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        RUNS.set(RUNS.get().saturating_sub(1));
    }
}

/// Counts an alarm or a task until it is dropped.
pub(super) struct Unwatched;

impl Unwatched {
    /// Returns `None` within a run of a host.
    pub(super) fn count() -> Option<Self> {
        (RUNS.get() == 0).then(|| {
            UNWATCHED.set(UNWATCHED.get().saturating_add(1));
            Self
        })
    }
}

impl Drop for Unwatched {
    fn drop(&mut self) {
        UNWATCHED.set(UNWATCHED.get().saturating_sub(1));
    }
}
