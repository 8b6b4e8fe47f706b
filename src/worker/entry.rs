//! From an event of the runtime to the endpoint, by the shortest way.
//!
//! `entry.js` reads the body of a request, if it is small, and calls the module once. What is ready at once is answered without a
//! promise; only a handler that waits gets one, and a task. `entry.js` also keeps the ids of the calls that wait within the module, and
//! answers these calls if the module breaks: after a panic nothing in it goes on, and the runtime would leave them hanging.

use std::cell::OnceCell;
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use http::Response;
use worker::js_sys::{Array, Uint8Array};
use worker::wasm_bindgen::closure::Closure;
#[cfg(not(panic = "unwind"))]
use worker::wasm_bindgen::handler;
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsValue};
use worker::worker_sys::Context;
use worker::{Env, web_sys};

use super::body::WorkerBody;
#[cfg(not(panic = "unwind"))]
use super::current_call;
use super::head::WorkerHead;
use super::host::{UNKNOWN_CALL, host};
use super::promise::start;
use super::response::{pair, respond};
use crate::host::Host;
use crate::http::stream::Body;
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

/// The start of a module, behind [`entry!`](crate::worker::entry).
#[doc(hidden)]
pub fn begin(endpoint: fn(&Env) -> Endpoint) {
    let work = move |env: Env, request: web_sys::Request, body: Uint8Array| {
        let host = host(worker::Context::new(JsValue::UNDEFINED.into()), UNKNOWN_CALL);
        // It is not kept: at this time the environment may lack something, and the clock stands at 0.
        let endpoint = endpoint(&env);
        let head = Rc::new(WorkerHead::new(&request));
        let warm_up = async move {
            let answer = |stage, host| handle(Rc::new(stage), request, Some(body), host);
            endpoint.warm_up(head, &host, answer).await;
            Ok(JsValue::UNDEFINED)
        };
        start(UNKNOWN_CALL, Box::pin(warm_up));
    };
    let work = Closure::<dyn Fn(Env, web_sys::Request, Uint8Array)>::new(work).into_js_value();
    let headers: Array = warm_up::HEADERS.iter().map(|(name, value)| pair(name, value)).collect();
    warm_up(&work, &headers, warm_up::CALL);
}

/// The function behind [`entry!`](crate::worker::entry).
#[doc(hidden)]
pub fn fetch(request: web_sys::Request, env: Env, context: Context, endpoint: fn(&Env) -> Endpoint) -> JsValue {
    ANSWER.with(|kept| {
        let answer = kept.get_or_init(|| {
            // A module that unwinds breaks only where its memory or its stack ends. Its start is made by another program then, which
            // knows only of the worker crate's own handler.
            #[cfg(not(panic = "unwind"))]
            handler::set_on_abort(on_abort);
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
    let endpoint = ENDPOINT.with(|kept| kept.get_or_init(|| Rc::new(endpoint(env))).clone());
    let host = host(worker::Context::new(context), call);
    let answer = handle(endpoint, request, body, host);
    start(call, Box::pin(async move { respond(answer.await).map(JsValue::from) }))
}

/// What `endpoint` answers. In a box, so that the rehearsal and a call run the same code.
fn handle(
    endpoint: Rc<Endpoint>,
    request: web_sys::Request,
    body: Option<Uint8Array>,
    host: Host,
) -> LocalBoxFuture<'static, Response<Body>> {
    let head = Rc::new(WorkerHead::new(&request));
    let body = WorkerBody { request, read: body };
    Box::pin(async move { endpoint.handle(head, body, &host).await })
}

/// The module has broken. It can still call out once: nothing comes back into it.
#[cfg(not(panic = "unwind"))]
fn on_abort() {
    broke(current_call::get());
}

/// Makes `endpoint`, a function of the environment, what the Worker serves.
///
/// The function returns an [`Endpoint`] or a `Result`. After an error, every request gets a 503, and the log has the error.
///
/// The function is called once in the life of an isolate, since the environment stays the same as long; its
/// [server function](crate::http::Endpoint::new) is called for each request. Both are called once more when the isolate starts, for a
/// rehearsal: the engine compiles what is called for the first time, and so does it while nobody waits. A panic there is written to
/// the log and has no other effect.
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
    ($endpoint:path) => {
        const _: () = {
            use worker::wasm_bindgen;
            use $crate::worker::runtime as worker;

            #[wasm_bindgen::prelude::wasm_bindgen(start)]
            pub fn begin() {
                $crate::worker::begin(|env| $endpoint(env).into());
            }

            #[wasm_bindgen::prelude::wasm_bindgen]
            pub fn fetch(
                request: worker::web_sys::Request,
                env: worker::Env,
                context: worker::worker_sys::Context,
            ) -> wasm_bindgen::JsValue {
                $crate::worker::fetch(request, env, context, |env| $endpoint(env).into())
            }
        };
    };
}
