//! The tasks that run or are waited for in this isolate: an attempt and the messages to its object meet here.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::{Rc, Weak};
use std::task::{Poll, Waker};

thread_local! {
    static LIVE: RefCell<BTreeMap<String, Weak<LiveTask>>> = const { RefCell::new(BTreeMap::new()) };
}

/// The data that the attempt of a task shares with the messages to its object.
#[derive(Default)]
pub(super) struct LiveTask {
    pub is_running: Cell<bool>,
    /// Whether the time of the attempt has passed.
    pub is_over: Cell<bool>,
    is_cancelled: Cell<bool>,
    /// Whether the handler waits for the cancellation.
    is_watched: Cell<bool>,
    /// The message of the running attempt.
    pub message: RefCell<Option<String>>,
    waiting: RefCell<Vec<Waker>>,
}

impl LiveTask {
    /// Returns the task `generation` of the object `name`.
    pub(super) fn of(name: &str, generation: &str) -> Rc<Self> {
        let name = format!("{name} {generation}");
        LIVE.with_borrow_mut(|live| {
            live.retain(|_, task| task.strong_count() > 0);
            if let Some(known) = live.get(&name).and_then(Weak::upgrade) {
                return known;
            }
            let task = Rc::<Self>::default();
            live.insert(name, Rc::downgrade(&task));
            task
        })
    }

    /// Begins an attempt.
    pub(super) fn begin(&self) {
        self.is_running.set(true);
        self.is_over.set(false);
        self.is_watched.set(false);
    }

    /// Wakes everything that waits for a change.
    pub(super) fn notify(&self) {
        self.waiting.take().into_iter().for_each(Waker::wake);
    }

    pub(super) fn cancel(&self) {
        self.is_cancelled.set(true);
        self.notify();
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.is_cancelled.get()
    }

    pub(super) fn watch(&self) {
        self.is_watched.set(true);
    }

    pub(super) fn is_watched(&self) -> bool {
        self.is_watched.get()
    }

    /// Completes when the task is cancelled.
    pub(super) async fn cancelled(&self) {
        self.until(|| self.is_cancelled.get().then_some(())).await;
    }

    /// Waits until `state` returns a value. It is called after each change.
    pub(super) async fn until<T>(&self, mut state: impl FnMut() -> Option<T>) -> T {
        poll_fn(|task| {
            if let Some(done) = state() {
                return Poll::Ready(done);
            }
            let mut waiting = self.waiting.borrow_mut();
            if !waiting.iter().any(|waker| waker.will_wake(task.waker())) {
                waiting.push(task.waker().clone());
            }
            Poll::Pending
        })
        .await
    }
}
