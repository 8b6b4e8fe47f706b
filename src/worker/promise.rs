//! The conversion of futures to JavaScript values. Most futures are ready at the first poll and need no promise.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use futures::future::LocalBoxFuture;
use futures::task::AtomicWaker;
use worker::js_sys::futures::future_to_promise;
use worker::wasm_bindgen::JsValue;

use super::current_call;

/// Polls `work`, which belongs to `call`. Returns its value if it is ready, or else a promise of the value.
///
/// Some futures keep the waker of their first poll, so every poll passes the same relay waker. The relay wakes the task that owns the
/// future.
pub(super) fn value_or_promise(call: u32, mut work: LocalBoxFuture<'static, Result<JsValue, JsValue>>) -> JsValue {
    let relay = Arc::new(WakeRelay(AtomicWaker::new()));
    let waker = Waker::from(relay.clone());
    current_call::enter(call);
    if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(&waker)) {
        return done.unwrap_or_else(|error| error);
    }
    let task = std::future::poll_fn(move |task| {
        relay.0.register(task.waker());
        current_call::enter(call);
        // A wake-up before the task exists is not lost, because a task is polled when it starts.
        work.as_mut().poll(&mut Context::from_waker(&waker))
    });
    // The task is not polled again after a panic.
    future_to_promise(AssertUnwindSafe(task)).into()
}

/// A waker that wakes another waker.
struct WakeRelay(AtomicWaker);

impl Wake for WakeRelay {
    fn wake(self: Arc<Self>) {
        self.0.wake();
    }
}
