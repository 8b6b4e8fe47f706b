//! The connection to the client of a call.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// Records whether a client is still connected.
#[derive(Debug, Default)]
pub(crate) struct ClientConnection {
    is_closed: Cell<bool>,
    waiting: RefCell<Vec<Waker>>,
}

impl ClientConnection {
    /// Waits until the client has disconnected.
    pub(crate) async fn closed(&self) {
        poll_fn(|task| {
            if self.is_closed.get() {
                return Poll::Ready(());
            }
            let mut waiting = self.waiting.borrow_mut();
            if !waiting.iter().any(|waker| waker.will_wake(task.waker())) {
                waiting.push(task.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }
}

/// A guard that closes the connection when it is dropped, and wakes the tasks that wait for this.
#[derive(Debug)]
pub(crate) struct ConnectionGuard(pub Rc<ClientConnection>);

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.0.is_closed.set(true);
        for waker in self.0.waiting.take() {
            waker.wake();
        }
    }
}
