//! Durable tasks on Cloudflare Workers: a Durable Object for each task, with SQLite storage.
//!
//! `tasks.js` guards the calls of the wasm module, as `entry.js` does for requests.

use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use worker::js_sys::futures::JsFuture;
use worker::js_sys::{Array, Error, Promise, Uint8Array};
use worker::wasm_bindgen::closure::Closure;
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsCast, JsValue};
use worker::{Env, web_sys};

use super::entry::{guard_against_abort, shared_endpoint};
use super::host::{UNKNOWN_CALL, host};
use super::promise::value_or_promise;
use crate::host::{TaskObjects, TaskRows};
use crate::http::Endpoint;

#[wasm_bindgen(module = "/src/worker/tasks.js")]
extern "C" {
    fn send(namespace: &JsValue, name: &str, message: &str) -> Promise;
    // wasm-bindgen 0.2.129 imports a function that needs no conversions directly. With two such functions, the import object would name the
    // file twice. So one function serves requests and alarms.
    fn receive(ctx: &JsValue, env: &Env, request: &JsValue, work: &JsValue) -> Promise;
    #[wasm_bindgen(catch)]
    fn get(ctx: &JsValue, key: &str) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(catch)]
    fn put(ctx: &JsValue, key: &str, value: &[u8]) -> Result<(), JsValue>;
    #[wasm_bindgen(catch)]
    fn remove(ctx: &JsValue, key: &str) -> Result<(), JsValue>;
    #[wasm_bindgen(catch)]
    fn list(ctx: &JsValue, prefix: &str) -> Result<Array, JsValue>;
    #[wasm_bindgen(catch)]
    fn clear(ctx: &JsValue, call: u32) -> Result<(), JsValue>;
    #[wasm_bindgen(catch, js_name = setAlarm)]
    fn set_alarm(ctx: &JsValue, name: &str, at: f64, call: u32) -> Result<(), JsValue>;
    #[wasm_bindgen(catch)]
    fn sync(ctx: &JsValue) -> Result<Promise, JsValue>;
}

/// The namespace of the Durable Objects: the binding `MCP_TASKS`.
pub(super) struct TaskNamespace(pub JsValue);

impl TaskObjects for TaskNamespace {
    fn send(&self, name: &str, message: String) -> LocalBoxFuture<'static, Result<String, String>> {
        let answer = JsFuture::from(send(&self.0, name, &message));
        let text = async move {
            let answer = answer.await.map_err(text_of)?;
            answer.as_string().ok_or_else(|| "the answer of the object is not a text".to_owned())
        };
        text.boxed_local()
    }
}

/// The storage of a Durable Object, for one message or alarm.
struct ObjectStorage {
    ctx: JsValue,
    name: String,
    /// The number of the call in `tasks.js`, which waits for its writes.
    call: u32,
}

impl TaskRows for ObjectStorage {
    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, String> {
        let value = get(&self.ctx, key).map_err(text_of)?;
        Ok((!value.is_undefined()).then(|| Uint8Array::new(&value).to_vec()))
    }

    fn put(&self, key: &str, value: &[u8]) -> Result<(), String> {
        put(&self.ctx, key, value).map_err(text_of)
    }

    fn delete(&self, key: &str) -> Result<(), String> {
        remove(&self.ctx, key).map_err(text_of)
    }

    fn list(&self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, String> {
        let mut rows = Vec::new();
        let mut items = list(&self.ctx, prefix).map_err(text_of)?.into_iter();
        while let (Some(key), Some(value)) = (items.next(), items.next()) {
            rows.push((key.as_string().unwrap_or_default(), Uint8Array::new(&value).to_vec()));
        }
        Ok(rows)
    }

    fn clear(&self) -> Result<(), String> {
        clear(&self.ctx, self.call).map_err(text_of)
    }

    fn set_alarm(&self, at_ms: u64) -> Result<(), String> {
        // Milliseconds since 1970 are far below 2^53, so an f64 represents them exactly.
        #[allow(clippy::cast_precision_loss)]
        let at = at_ms as f64;
        set_alarm(&self.ctx, &self.name, at, self.call).map_err(text_of)
    }

    fn sync(&self) -> LocalBoxFuture<'static, Result<(), String>> {
        let stored = sync(&self.ctx);
        let stored = async move { JsFuture::from(stored.map_err(text_of)?).await.map(drop).map_err(text_of) };
        stored.boxed_local()
    }
}

/// Returns the text of a JavaScript error, for the log.
fn text_of(error: JsValue) -> String {
    format!("{error:?}")
}

/// Answers a message to the object with this state. [`tasks!`](crate::worker::tasks) calls this function.
#[doc(hidden)]
pub fn task_fetch(ctx: &JsValue, env: &Env, request: &web_sys::Request, endpoint: fn(&Env) -> Endpoint) -> JsValue {
    guard_against_abort();
    let work = move |ctx: JsValue, env: Env, name: String, message: String, call: u32| {
        let (endpoint, host) = (shared_endpoint(&env, endpoint), object_host(&ctx));
        let answer = async move {
            let rows = Rc::new(ObjectStorage { ctx, name: name.clone(), call });
            let answer = endpoint.task_message(&name, rows, &message, &host).await;
            answer.map(JsValue::from).map_err(|error| Error::new(&error).into())
        };
        value_or_promise(call, Box::pin(answer))
    };
    let work = Closure::<dyn Fn(JsValue, Env, String, String, u32) -> JsValue>::new(work).into_js_value();
    receive(ctx, env, request, &work).into()
}

/// Answers the alarm of the object with this state. [`tasks!`](crate::worker::tasks) calls this function.
#[doc(hidden)]
pub fn task_alarm(ctx: &JsValue, env: &Env, endpoint: fn(&Env) -> Endpoint) -> JsValue {
    guard_against_abort();
    let work = move |ctx: JsValue, env: Env, name: String, call: u32| {
        let (endpoint, host) = (shared_endpoint(&env, endpoint), object_host(&ctx));
        let rings = async move {
            let rows = Rc::new(ObjectStorage { ctx, name: name.clone(), call });
            let rung = endpoint.task_alarm(&name, rows, &host).await;
            rung.map(|()| JsValue::UNDEFINED).map_err(|error| Error::new(&error).into())
        };
        value_or_promise(call, Box::pin(rings))
    };
    let work = Closure::<dyn Fn(JsValue, Env, String, u32) -> JsValue>::new(work).into_js_value();
    receive(ctx, env, &JsValue::UNDEFINED, &work).into()
}

/// Returns the host of an object. Its state has `waitUntil`, as the context of a request has.
fn object_host(ctx: &JsValue) -> Rc<dyn crate::host::Host> {
    host(worker::Context::new(ctx.clone().unchecked_into()), UNKNOWN_CALL)
}

/// Exports the class `McpTask` of a Worker with durable tasks. The argument is that of [`entry!`](crate::worker::entry).
///
/// The class is a Durable Object with SQLite storage. `wrangler.toml` binds it as `MCP_TASKS`:
///
/// ```toml
/// [[durable_objects.bindings]]
/// name = "MCP_TASKS"
/// class_name = "McpTask"
///
/// [[migrations]]
/// tag = "v1"
/// new_sqlite_classes = ["McpTask"]
/// ```
///
/// ```no_run
/// use edge_mcp::tasks::Task;
/// use edge_mcp::{BuildError, Endpoint, McpServer, RequestInfo, Tool};
/// use worker::Env;
///
/// fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
///     let convert = Tool::new("convert", "Converts the archive.", || async { "done" }).task(Task::new());
///     McpServer::builder("archive", "1.0.0").tool(convert).build()
/// }
///
/// fn endpoint(env: &Env) -> Endpoint {
///     Endpoint::new(server).configured(env)
/// }
///
/// edge_mcp::worker::entry!(endpoint);
/// edge_mcp::worker::tasks!(endpoint);
/// # fn main() {}
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __worker_tasks {
    ($endpoint:expr) => {
        const _: () = {
            use worker::wasm_bindgen;
            use $crate::worker::runtime as worker;

            #[wasm_bindgen::prelude::wasm_bindgen]
            pub struct McpTask {
                ctx: wasm_bindgen::JsValue,
                env: worker::Env,
            }

            #[wasm_bindgen::prelude::wasm_bindgen]
            impl McpTask {
                #[wasm_bindgen(constructor)]
                pub fn new(ctx: wasm_bindgen::JsValue, env: worker::Env) -> Self {
                    Self { ctx, env }
                }

                pub fn fetch(&self, request: worker::web_sys::Request) -> wasm_bindgen::JsValue {
                    let endpoint: fn(&worker::Env) -> _ = |env| $crate::worker::endpoint_of(env, $endpoint);
                    $crate::worker::task_fetch(&self.ctx, &self.env, &request, endpoint)
                }

                pub fn alarm(&self) -> wasm_bindgen::JsValue {
                    let endpoint: fn(&worker::Env) -> _ = |env| $crate::worker::endpoint_of(env, $endpoint);
                    $crate::worker::task_alarm(&self.ctx, &self.env, endpoint)
                }
            }
        };
    };
}
