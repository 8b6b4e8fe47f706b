//! Starting a future: most are done at once, and need no promise.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use futures::future::LocalBoxFuture;
use futures::task::AtomicWaker;
use worker::js_sys::futures::future_to_promise;
use worker::wasm_bindgen::JsValue;

use super::current_call;

/// Polls `work` for `call`: gives what comes of it, if it is done, or a promise of that.
///
/// A future may keep the waker of its first poll, so that whoever polls it later must not come with another. It only ever sees one: a
/// relay, which wakes the task that has the future by then.
pub(super) fn start(call: u32, mut work: LocalBoxFuture<'static, Result<JsValue, JsValue>>) -> JsValue {
    let relay = Arc::new(Relay(AtomicWaker::new()));
    let waker = Waker::from(relay.clone());
    current_call::enter(call);
    if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(&waker)) {
        return done.unwrap_or_else(|error| error);
    }
    let task = std::future::poll_fn(move |task| {
        relay.0.register(task.waker());
        current_call::enter(call);
        // What has woken it before the task was there is not lost: a task is polled when it begins.
        work.as_mut().poll(&mut Context::from_waker(&waker))
    });
    // After a panic it is not polled again.
    future_to_promise(AssertUnwindSafe(task)).into()
}

/// Wakes another.
struct Relay(AtomicWaker);

impl Wake for Relay {
    fn wake(self: Arc<Self>) {
        self.0.wake();
    }
}
