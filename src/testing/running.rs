//! Runs the futures of a test in any executor, and ends those that can no longer make progress.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use super::host::TestHost;

/// The maximum by which the clock advances by itself during one run, in milliseconds.
const MOST_SKIPPED_MS: u64 = 600_000;
/// How often a host gives way to other futures of the executor before it advances the clock.
const TURNS: u32 = 16;

/// Runs `future` to its end on this thread, for tests without an executor.
///
/// ```
/// assert_eq!(edge_mcp::testing::run(async { 1 + 1 }), 2);
/// ```
pub fn run<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

/// A future waits for something that cannot happen any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stalled;

impl fmt::Display for Stalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("The call cannot finish: all its work waits, and no timer is due within the next 10 minutes of the clock.")
    }
}

impl std::error::Error for Stalled {}

impl TestHost {
    /// Runs `future`, and the tasks that are started on this host, to their end. A [`Client`](super::Client) runs its requests by this
    /// method.
    ///
    /// If everything waits, the clock advances to the next alarm of the timer. So no wait takes real time, and a handler that waits for
    /// something that never happens ends at its deadline. Before the clock advances, the other futures of the executor are polled a few
    /// times. The method does not wait for other threads. A task that cannot end stays on the host, and the next run polls it again.
    ///
    /// # Errors
    /// [`Stalled`] if everything waits, and no alarm is due within 10 minutes of the clock in total.
    pub async fn run<T>(&self, future: impl Future<Output = T>) -> Result<T, Stalled> {
        let tasks = self.tasks();
        let (mut future, mut output) = (pin!(future), None);
        let mut standstill = Standstill { turns: 0, left_ms: MOST_SKIPPED_MS };
        // How often the waker had been called at the last poll of the future, and at the end of the last turn.
        let (mut seen, mut left) = (0, 0);
        poll_fn(|executor| {
            tasks.add_executor(executor.waker());
            let wakes = tasks.wakes();
            if wakes != left {
                standstill.turns = 0;
            }
            if wakes != seen {
                seen = wakes;
                let mut task = Context::from_waker(tasks.waker());
                if output.is_none()
                    && let Poll::Ready(done) = future.as_mut().poll(&mut task)
                {
                    output = Some(done);
                }
                tasks.poll(&mut task);
            }
            if tasks.wakes() == seen {
                if tasks.is_empty()
                    && let Some(done) = output.take()
                {
                    return Poll::Ready(Ok(done));
                }
                if !standstill.can_end(self) {
                    return Poll::Ready(output.take().ok_or(Stalled));
                }
                executor.waker().wake_by_ref();
            }
            left = tasks.wakes();
            Poll::Pending
        })
        .await
    }
}

/// A future and its tasks wait, and nothing has woken them.
struct Standstill {
    turns: u32,
    left_ms: u64,
}

impl Standstill {
    /// Gives way to the executor, or else advances the clock. Returns `false` if neither can help.
    fn can_end(&mut self, host: &TestHost) -> bool {
        if self.turns < TURNS {
            self.turns = self.turns.saturating_add(1);
            return true;
        }
        let passed = host.timer().skip(self.left_ms);
        self.left_ms = self.left_ms.saturating_sub(passed.unwrap_or_default());
        passed.is_some()
    }
}
