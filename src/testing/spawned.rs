//! The tasks of a test host, and their shared waker.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::unwatched::Unwatched;

/// The tasks of a test host, and their shared waker.
pub(super) struct SpawnedTasks {
    running: RefCell<Vec<LocalBoxFuture<'static, ()>>>,
    relay: Arc<ExecutorRelay>,
    waker: Waker,
}

impl SpawnedTasks {
    pub(super) fn new() -> Self {
        let relay = Arc::new(ExecutorRelay { wakes: AtomicU64::new(1), executors: Mutex::default() });
        Self { running: RefCell::default(), waker: relay.clone().into(), relay }
    }

    pub(super) fn spawn(&self, task: LocalBoxFuture<'static, ()>) {
        let unwatched = Unwatched::count();
        let task = async move {
            drop(unwatched);
            task.await;
        };
        self.running.borrow_mut().push(task.boxed_local());
        self.waker.wake_by_ref();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.borrow().is_empty()
    }

    /// Polls all tasks.
    pub(super) fn poll(&self, cx: &mut Context<'_>) {
        // A task may start other tasks, so `running` must not be borrowed while a task is polled.
        let mut running = self.running.take();
        running.retain_mut(|task| task.poll_unpin(cx).is_pending());
        self.running.borrow_mut().extend(running);
    }

    /// Returns the waker of all futures and tasks of the host.
    pub(super) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Returns the number of calls of the waker.
    pub(super) fn wakes(&self) -> u64 {
        self.relay.wakes.load(Ordering::SeqCst)
    }

    /// Adds the waker of an executor. The next call of the shared waker wakes this executor.
    pub(super) fn add_executor(&self, executor: &Waker) {
        let mut executors = self.relay.executors.lock().unwrap_or_else(PoisonError::into_inner);
        if !executors.iter().any(|known| known.will_wake(executor)) {
            executors.push(executor.clone());
        }
    }
}

/// Wakes the executors of a host. All futures and tasks share this relay, because some futures keep the waker of their first poll.
struct ExecutorRelay {
    wakes: AtomicU64,
    /// The wakers of the executors that run the futures.
    executors: Mutex<Vec<Waker>>,
}

impl Wake for ExecutorRelay {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, Ordering::SeqCst);
        let executors = std::mem::take(&mut *self.executors.lock().unwrap_or_else(PoisonError::into_inner));
        executors.into_iter().for_each(Waker::wake);
    }
}
