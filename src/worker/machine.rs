//! Clock, timer, tasks and log of a Worker.

use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::host::{Clock, Host, Level, Log, NoRandomness, Randomness, Tasks, Timer};

/// The machine that a Worker runs on.
pub(super) fn host() -> Host {
    let isolate = Rc::new(Isolate);
    Host {
        clock: isolate.clone(),
        timer: isolate.clone(),
        tasks: isolate.clone(),
        randomness: isolate.clone(),
        log: isolate,
    }
}

/// The isolate: it holds nothing of its own.
struct Isolate;

/// It stands still while the program runs and moves on when it waits.
impl Clock for Isolate {
    fn now_ms(&self) -> u64 {
        worker::Date::now().as_millis()
    }
}

impl Timer for Isolate {
    fn sleep(&self, time: Duration) -> LocalBoxFuture<'static, ()> {
        worker::Delay::from(time).boxed_local()
    }
}

/// A task lives as long as the answer that it writes is open.
impl Tasks for Isolate {
    fn spawn(&self, task: LocalBoxFuture<'static, ()>) {
        worker::wasm_bindgen_futures::spawn_local(task);
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
