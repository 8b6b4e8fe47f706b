//! The isolate of a Worker as a host.

use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use http::HeaderMap;
use worker::js_sys::Array;
use worker::wasm_bindgen;
use worker::wasm_bindgen::JsValue;
use worker::wasm_bindgen::prelude::wasm_bindgen;

use super::response::pairs;
use super::{current_call, open, signature};
use crate::call::context::Context;
use crate::call::request_info::RequestInfo;
use crate::host::{
    CannotCheck, CannotSign, CrashAnswer, FetchError, Host, Level, NoRandomness, Opened, Outbound, PrivateKey,
    PublicKey,
};

#[wasm_bindgen(module = "/src/worker/entry.js")]
extern "C" {
    #[wasm_bindgen(js_name = keepHeaders)]
    fn keep_headers(call: u32, headers: &Array);
    #[wasm_bindgen(js_name = keepAnswer)]
    fn keep_answer(call: u32, lines: &[u8], is_batch: bool);
}

/// The number of a call that is not in the list of `entry.js`.
pub(super) const UNKNOWN_CALL: u32 = 0;

/// Creates the context of an event that is not a request, such as a cron trigger or a message of a queue. With it, the program can call its
/// own tools and other servers.
///
/// ```no_run
/// use edge_mcp::{McpServer, Tool};
/// use serde_json::json;
///
/// // The app marks this function with #[event(scheduled)].
/// async fn scheduled(_: worker::ScheduledEvent, _: worker::Env, event: worker::ScheduleContext) {
///     let server = McpServer::builder("parcels", "1.0.0").tool(Tool::new("sweep", "Deletes old parcels.", || async {}));
///     let cx = edge_mcp::worker::context(event);
///     if let Ok(server) = server.build() {
///         let _swept = server.execute_tool("sweep", json!({}), &cx).await;
///     }
/// }
/// ```
pub fn context(event: impl EventContext) -> Context {
    Context::for_program(RequestInfo::none(), of_event(event))
}

/// Creates the host for an event that is not a request. [`context`] is shorter, unless the event has a caller or headers of its own.
pub fn of_event(event: impl EventContext) -> Rc<dyn Host> {
    host(event, UNKNOWN_CALL)
}

/// The context of an event. It can run work after the event has ended. A program can implement this trait for the state of a Durable
/// Object.
pub trait EventContext: 'static {
    /// Runs `work` to its end, even if the event ends earlier.
    fn wait_until(&self, work: LocalBoxFuture<'static, ()>);
}

impl EventContext for worker::Context {
    fn wait_until(&self, work: LocalBoxFuture<'static, ()>) {
        self.wait_until(work);
    }
}

impl EventContext for worker::ScheduleContext {
    fn wait_until(&self, work: LocalBoxFuture<'static, ()>) {
        self.wait_until(work);
    }
}

/// Returns the host for one request. `call` is its number in `entry.js`.
pub(super) fn host(context: impl EventContext, call: u32) -> Rc<dyn Host> {
    Rc::new(Isolate { context, call })
}

/// The isolate while it answers one request.
struct Isolate<C> {
    context: C,
    /// The number of the call in `entry.js`.
    call: u32,
}

impl<C: EventContext> Host for Isolate<C> {
    /// The clock advances only while the program waits for I/O.
    fn now_ms(&self) -> u64 {
        // The milliseconds since 1970 are an integer far below 2^53, so an f64 represents them exactly.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let now = worker::js_sys::Date::now() as u64;
        now
    }

    fn sleep(&self, time: Duration) -> LocalBoxFuture<'static, ()> {
        worker::Delay::from(time).boxed_local()
    }

    /// A task may outlive its response. Without `waitUntil`, the runtime would stop the task when the client disconnects, and the task
    /// could not react. With `waitUntil`, the task has another 30 s.
    fn spawn(&self, task: LocalBoxFuture<'static, ()>) {
        let call = self.call;
        let mut task = task;
        let task = std::future::poll_fn(move |cx| {
            current_call::enter(call);
            task.as_mut().poll(cx)
        });
        self.context.wait_until(task.boxed_local());
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
        getrandom::fill(bytes).map_err(|_| NoRandomness)
    }

    /// Writes to the console. `wrangler tail` and Workers Logs turn a line of JSON into fields.
    fn log(&self, level: Level, line: &str) {
        match level {
            Level::Info => worker::console_log!("{line}"),
            Level::Warning => worker::console_warn!("{line}"),
            Level::Error => worker::console_error!("{line}"),
        }
    }

    fn open(&self, request: Outbound) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        open::open(JsValue::UNDEFINED, request).boxed_local()
    }

    fn verify(
        &self,
        key: PublicKey,
        message: Vec<u8>,
        signature: Vec<u8>,
    ) -> LocalBoxFuture<'static, Result<bool, CannotCheck>> {
        signature::verify(key, message, signature).boxed_local()
    }

    fn sign(&self, key: PrivateKey, message: Vec<u8>) -> LocalBoxFuture<'static, Result<Vec<u8>, CannotSign>> {
        signature::sign(key, message).boxed_local()
    }

    fn keep_crash_headers(&self, headers: &HeaderMap) {
        if self.call != UNKNOWN_CALL {
            keep_headers(self.call, &pairs(headers));
        }
    }

    fn keep_crash_answer(&self, CrashAnswer { ids, is_batch, log_line }: CrashAnswer<'_>) {
        if self.call != UNKNOWN_CALL {
            // In JSON, a string or number contains no line break.
            let mut lines = log_line.to_vec();
            for id in ids {
                lines.push(b'\n');
                lines.extend_from_slice(id.as_bytes());
            }
            keep_answer(self.call, &lines, is_batch);
        }
    }
}
