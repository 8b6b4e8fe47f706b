//! Clock, timer, tasks and log of a Worker.

use std::iter;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use http::HeaderMap;
use worker::js_sys::Array;
use worker::wasm_bindgen;
use worker::wasm_bindgen::prelude::wasm_bindgen;

use super::current_call;
use super::response::pairs;
use crate::host::{Clock, CrashAnswer, Host, Level, Log, NoRandomness, Randomness, Tasks, Timer};

#[wasm_bindgen(module = "/src/worker/entry.js")]
extern "C" {
    #[wasm_bindgen(js_name = keepHeaders)]
    fn keep_headers(call: u32, headers: &Array);
    #[wasm_bindgen(js_name = keepAnswer)]
    fn keep_answer(call: u32, lines: &[u8], is_batch: bool);
}

/// The number of a call that `entry.js` does not know.
pub(super) const UNKNOWN_CALL: u32 = 0;

/// The machine that a Worker runs on, while it answers one request.
pub(super) fn host(context: worker::Context, call: u32) -> Host {
    let isolate = Rc::new(Isolate { context, call });
    Host {
        clock: isolate.clone(),
        timer: isolate.clone(),
        tasks: isolate.clone(),
        randomness: isolate.clone(),
        log: isolate.clone(),
        fetch: isolate.clone(),
        signatures: isolate,
    }
}

/// The isolate, and what it knows of the request.
pub(super) struct Isolate {
    context: worker::Context,
    /// Which call of the runtime this is.
    call: u32,
}

/// It stands still while the program runs and moves on when it waits.
impl Clock for Isolate {
    fn now_ms(&self) -> u64 {
        // Milliseconds since 1970 are a whole number, and far from those that it cannot hold.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let now = worker::js_sys::Date::now() as u64;
        now
    }
}

impl Timer for Isolate {
    fn sleep(&self, time: Duration) -> LocalBoxFuture<'static, ()> {
        worker::Delay::from(time).boxed_local()
    }
}

/// A task may outlive its answer: without that, it would end where it waits as soon as the client has gone away, and would
/// never learn of it. The runtime gives it 30 s then.
impl Tasks for Isolate {
    fn spawn(&self, task: LocalBoxFuture<'static, ()>) {
        let call = self.call;
        let mut task = task;
        self.context.wait_until(std::future::poll_fn(move |cx| {
            current_call::enter(call);
            task.as_mut().poll(cx)
        }));
    }

    fn keep_crash_headers(&self, headers: &HeaderMap) {
        if self.call != UNKNOWN_CALL {
            keep_headers(self.call, &pairs(headers));
        }
    }

    fn keep_crash_answer(&self, CrashAnswer { ids, is_batch, log_line }: CrashAnswer<'_>) {
        if self.call != UNKNOWN_CALL {
            // JSON has no line break within a string or a number.
            let lines: Vec<&[u8]> = iter::once(log_line).chain(ids.iter().map(|id| id.as_bytes())).collect();
            keep_answer(self.call, &lines.join(&b'\n'), is_batch);
        }
    }
}

impl Randomness for Isolate {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
        getrandom::fill(bytes).map_err(|_| NoRandomness)
    }
}

/// The console, which `wrangler tail` and Workers Logs show. A line of JSON becomes fields there.
impl Log for Isolate {
    fn write(&self, level: Level, line: &str) {
        match level {
            Level::Info => worker::console_log!("{line}"),
            Level::Warning => worker::console_warn!("{line}"),
            Level::Error => worker::console_error!("{line}"),
        }
    }
}
