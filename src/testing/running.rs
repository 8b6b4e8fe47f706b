//! The execution of futures in tests. It works in every executor, and ends futures that can no longer make progress.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use super::host::TestHost;
use super::unwatched::{self, Watch};

/// The maximum time by which one run advances the clock, in milliseconds.
const MAX_SKIPPED_MS: u64 = 600_000;
/// The number of times that a run yields to other futures of the executor before it advances the clock.
const TURNS: u32 = 16;

/// Runs `future` to its end on this thread, for tests without an executor.
///
/// The requests of a [`Client`](super::Client) advance the clock of their host. Other work with a host, such as that of a
/// [`context`](super::context()), needs [`TestHost::run`] to wait: `testing::run(host.run(future))`.
///
/// # Panics
/// The future waits for the clock or for a task of a host, outside of [`TestHost::run`]. It would wait forever.
///
/// ```
/// assert_eq!(edge_mcp::testing::run(async { 1 + 1 }), 2);
/// ```
#[track_caller]
pub fn run<T>(future: impl Future<Output = T>) -> T {
    let signal = Arc::new(Signal { thread: thread::current(), is_awake: AtomicBool::new(false) });
    let waker = Waker::from(signal.clone());
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        while !signal.is_awake.swap(false, Ordering::SeqCst) {
            fail_if_stalled();
            thread::park();
        }
    }
}

/// Wakes the thread of [`run`].
struct Signal {
    thread: Thread,
    is_awake: AtomicBool,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.is_awake.store(true, Ordering::SeqCst);
        self.thread.unpark();
    }
}

/// Fails the test if its future waits for something that only a run of a host provides.
#[track_caller]
fn fail_if_stalled() {
    assert!(
        !unwatched::exists(),
        "Stalled: the future waits for the clock or a task of a `TestHost`, and only the host provides them. Write \
         `testing::run(host.run(future))`."
    );
}

/// The error for a future that can no longer finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stalled;

impl fmt::Display for Stalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("The call cannot finish: all its work waits, and no timer is due within 10 minutes of the clock.")
    }
}

impl std::error::Error for Stalled {}

impl TestHost {
    /// Runs `future` and the tasks of this host to their end. A [`Client`](super::Client) runs its requests with this method.
    ///
    /// If all work waits, the clock advances to the next alarm of the timer. So a wait takes no real time, and a handler that never stops
    /// waiting ends at its deadline. Before the clock advances, the run yields to the other futures of the executor a few times. The method
    /// does not wait for other threads. A task that cannot end stays on the host, and the next run polls it again.
    ///
    /// # Errors
    /// [`Stalled`] if all work waits and no alarm is due. One run advances the clock by at most 10 minutes in total.
    pub async fn run<T>(&self, future: impl Future<Output = T>) -> Result<T, Stalled> {
        let tasks = self.tasks();
        let (mut future, mut output) = (pin!(future), None);
        let mut standstill = Standstill { turns: 0, remaining_ms: MAX_SKIPPED_MS };
        // The number of calls of the waker at the last poll of the future, and at the end of the last turn.
        let (mut wakes_at_poll, mut wakes_at_turn) = (0, 0);
        poll_fn(|executor| {
            let _watch = Watch::begin();
            tasks.add_executor(executor.waker());
            let wakes = tasks.wakes();
            if wakes != wakes_at_turn {
                standstill.turns = 0;
            }
            if wakes != wakes_at_poll {
                wakes_at_poll = wakes;
                let mut task = Context::from_waker(tasks.waker());
                if output.is_none()
                    && let Poll::Ready(done) = future.as_mut().poll(&mut task)
                {
                    output = Some(done);
                }
                tasks.poll(&mut task);
            }
            if tasks.wakes() == wakes_at_poll {
                if tasks.is_empty()
                    && let Some(done) = output.take()
                {
                    return Poll::Ready(Ok(done));
                }
                if !standstill.can_continue(self) {
                    return Poll::Ready(output.take().ok_or(Stalled));
                }
                executor.waker().wake_by_ref();
            }
            wakes_at_turn = tasks.wakes();
            Poll::Pending
        })
        .await
    }
}

/// The state of a run while the future and all tasks wait.
struct Standstill {
    /// The number of times that the run has yielded since the last wake-up.
    turns: u32,
    /// The time by which the run may still advance the clock, in milliseconds.
    remaining_ms: u64,
}

impl Standstill {
    /// Yields to the executor, or advances the clock after enough turns. Returns `false` if the clock cannot advance.
    fn can_continue(&mut self, host: &TestHost) -> bool {
        if self.turns < TURNS {
            self.turns = self.turns.saturating_add(1);
            return true;
        }
        let passed = host.timer().skip(self.remaining_ms);
        self.remaining_ms = self.remaining_ms.saturating_sub(passed.unwrap_or_default());
        passed.is_some()
    }
}
