//! The functions that the Worker exports: the start of the wasm module and the fetch handler.
//!
//! `entry.js` reads a short body, and calls the wasm module once. An answer that is ready at the first poll needs no promise. Only a
//! handler that waits needs a promise and a task. `entry.js` also keeps the ids of the calls that wait in the wasm module. After a panic,
//! the wasm module does not run again, and the runtime would leave these calls pending. So `entry.js` answers them.

use std::cell::OnceCell;
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use worker::js_sys::{Array, Uint8Array};
use worker::wasm_bindgen::closure::Closure;
#[cfg(not(panic = "unwind"))]
use worker::wasm_bindgen::handler;
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsValue};
use worker::worker_sys::Context;
use worker::{Env, web_sys};

#[cfg(not(panic = "unwind"))]
use super::current_call;
use super::host::{UNKNOWN_CALL, host};
use super::promise::value_or_promise;
use super::request::WorkerRequest;
use super::response::{pair, respond};
use crate::host::Host;
use crate::http::reply::Reply;
use crate::http::{Endpoint, warm_up};

#[wasm_bindgen(module = "/src/worker/entry.js")]
extern "C" {
    fn receive(request: &web_sys::Request, env: &Env, context: &Context, answer: &JsValue) -> JsValue;
    #[wasm_bindgen(js_name = warmUp)]
    fn warm_up(work: &JsValue, headers: &Array, body: &[u8]);
    #[cfg(not(panic = "unwind"))]
    fn broke(call: u32);
}

thread_local! {
    static ENDPOINT: OnceCell<Rc<Endpoint>> = const { OnceCell::new() };
    static ANSWER: OnceCell<JsValue> = const { OnceCell::new() };
}

/// Starts the wasm module, with a warm-up call. [`entry!`](crate::worker::entry) calls this function.
#[doc(hidden)]
pub fn begin(endpoint: fn(&Env) -> Endpoint) {
    let work = move |env: Env, request: web_sys::Request, body: Uint8Array| {
        let host = host(worker::Context::new(JsValue::UNDEFINED.into()), UNKNOWN_CALL);
        // When a wasm module starts, the environment may be incomplete, and the clock is at 0. So this endpoint is not cached.
        let endpoint = endpoint(&env);
        let head = Rc::new(WorkerRequest::new(Clone::clone(&request), None));
        let warm_up = async move {
            let answer = |endpoint, host| handle(Rc::new(endpoint), request, Some(body), host);
            endpoint.warm_up(head, &host, answer).await;
            Ok(JsValue::UNDEFINED)
        };
        value_or_promise(UNKNOWN_CALL, Box::pin(warm_up));
    };
    let work = Closure::<dyn Fn(Env, web_sys::Request, Uint8Array)>::new(work).into_js_value();
    let headers: Array = warm_up::HEADERS.iter().map(|(name, value)| pair(name, value)).collect();
    warm_up(&work, &headers, warm_up::CALL);
}

/// Calls the endpoint function. It is a function so that the compiler knows the type of a closure's parameter.
#[doc(hidden)]
pub fn endpoint_of<E: Into<Endpoint>>(env: &Env, endpoint: impl FnOnce(&Env) -> E) -> Endpoint {
    endpoint(env).into()
}

/// Answers a fetch event. [`entry!`](crate::worker::entry) calls this function.
#[doc(hidden)]
pub fn fetch(request: web_sys::Request, env: Env, context: Context, endpoint: fn(&Env) -> Endpoint) -> JsValue {
    ANSWER.with(|cell| {
        let answer = cell.get_or_init(|| {
            guard_against_abort();
            let answer = move |request, env, context, body, call| answer(request, &env, context, body, call, endpoint);
            Closure::<dyn Fn(web_sys::Request, Env, Context, Option<Uint8Array>, u32) -> JsValue>::new(answer)
                .into_js_value()
        });
        receive(&request, &env, &context, answer)
    })
}

fn answer(
    request: web_sys::Request,
    env: &Env,
    context: Context,
    body: Option<Uint8Array>,
    call: u32,
    endpoint: fn(&Env) -> Endpoint,
) -> JsValue {
    let endpoint = shared_endpoint(env, endpoint);
    let host = host(worker::Context::new(context), call);
    let answer = handle(endpoint, request, body, host);
    value_or_promise(call, Box::pin(async move { respond(answer.await).map(JsValue::from) }))
}

/// Returns the endpoint, which all events of the isolate share.
pub(super) fn shared_endpoint(env: &Env, endpoint: fn(&Env) -> Endpoint) -> Rc<Endpoint> {
    ENDPOINT.with(|cell| cell.get_or_init(|| Rc::new(endpoint(env))).clone())
}

/// Makes JavaScript end everything that waits if the wasm module breaks.
pub(super) fn guard_against_abort() {
    // A wasm module that is built with unwinding breaks only if its memory or its stack is exhausted. Different JavaScript starts such a
    // wasm module. This JavaScript supports only the handler of the worker crate.
    #[cfg(not(panic = "unwind"))]
    handler::set_on_abort(on_abort);
}

/// Answers a request. The future is boxed, so that the warm-up and a call run the same code.
fn handle(
    endpoint: Rc<Endpoint>,
    request: web_sys::Request,
    body: Option<Uint8Array>,
    host: Rc<dyn Host>,
) -> LocalBoxFuture<'static, Reply> {
    let request = WorkerRequest::new(request, body);
    Box::pin(async move { endpoint.reply(request, &host).await })
}

/// Reports to `entry.js` that the wasm module has broken. It can call JavaScript once more. JavaScript does not call it again.
#[cfg(not(panic = "unwind"))]
fn on_abort() {
    broke(current_call::get());
}

/// Exports the fetch handler of a Worker. The argument is the endpoint function, or a closure: it gets the environment, and returns an
/// [`Endpoint`] or a `Result`.
///
/// If the endpoint function returns an error, every request gets a 503, and the log has the error.
///
/// The endpoint function runs once per isolate, because the environment of an isolate does not change. The
/// [server function](crate::Endpoint::new) runs for each request. When the isolate starts, both run once more for the warm-up: the engine
/// compiles functions at their first call, so it compiles them before the first request. A panic in the warm-up is written to the log and
/// has no other effect.
///
/// ```no_run
/// use edge_mcp::{BuildError, ConfigError, Endpoint, McpServer, RequestInfo, StaticTokens};
/// use worker::Env;
///
/// fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
///     McpServer::builder("empty", "1.0.0").build()
/// }
///
/// fn endpoint(env: &Env) -> Result<Endpoint, ConfigError> {
///     Ok(Endpoint::new(server).auth(StaticTokens::from_secret(env, "MCP_STATIC_TOKENS")?))
/// }
///
/// edge_mcp::worker::entry!(endpoint);
/// # fn main() {}
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __worker_entry {
    ($endpoint:expr) => {
        const _: () = {
            use worker::wasm_bindgen;
            use $crate::worker::runtime as worker;

            #[wasm_bindgen::prelude::wasm_bindgen(start)]
            pub fn begin() {
                $crate::worker::begin(|env| $crate::worker::endpoint_of(env, $endpoint));
            }

            #[wasm_bindgen::prelude::wasm_bindgen]
            pub fn fetch(
                request: worker::web_sys::Request,
                env: worker::Env,
                context: worker::worker_sys::Context,
            ) -> wasm_bindgen::JsValue {
                $crate::worker::fetch(request, env, context, |env| $crate::worker::endpoint_of(env, $endpoint))
            }
        };
    };
}
