//! A request of the Workers runtime. The headers stay in JavaScript. Each header is converted when it is read.
//!
//! Only this file uses a Cloudflare header in Rust.

use std::cell::{Cell, RefCell};
use std::net::{IpAddr, Ipv4Addr};

use futures::FutureExt;
use worker::js_sys::futures::JsFuture;
use worker::js_sys::{JsString, Promise, Uint8Array};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsCast, JsValue};
use worker::web_sys;

use crate::host::{BodyError, Request};
use crate::limits::HEADER_NAMES;

#[wasm_bindgen]
extern "C" {
    type Headers;

    // The binding of web-sys takes the name as a Rust string, which JavaScript would have to decode each time.
    #[wasm_bindgen(method, catch)]
    fn get(this: &Headers, name: &JsString) -> Result<Option<String>, JsValue>;
}

#[wasm_bindgen(module = "/src/worker/entry.js")]
extern "C" {
    #[wasm_bindgen(js_name = read)]
    fn read_body(request: &web_sys::Request, limit: u32) -> Promise;
}

thread_local! {
    /// The names of headers as JavaScript strings. They are cached, because each request reads the same few headers.
    static NAMES: RefCell<Vec<(String, JsString)>> = const { RefCell::new(Vec::new()) };
}

/// A request of the Workers runtime.
pub(super) struct WorkerRequest {
    request: web_sys::Request,
    headers: Headers,
    /// The body, if JavaScript has already read it. It is moved out when it is read, so a call that waits does not keep it.
    body: Cell<Option<Uint8Array>>,
}

impl WorkerRequest {
    /// Creates a request. `body` is its body, if JavaScript has already read it.
    pub(super) fn new(request: web_sys::Request, body: Option<Uint8Array>) -> Self {
        Self { headers: JsValue::from(request.headers()).into(), request, body: Cell::new(body) }
    }

    async fn read(&self, limit: usize) -> Result<Uint8Array, BodyError> {
        let most = u32::try_from(limit).unwrap_or(u32::MAX);
        let read = JsFuture::from(read_body(&self.request, most)).await;
        let read = read.map_err(|error| BodyError::Broken(format!("{error:?}")))?;
        read.dyn_into().map_err(|_| BodyError::TooLarge)
    }
}

impl Request for WorkerRequest {
    fn method(&self) -> String {
        self.request.method()
    }

    fn url(&self) -> String {
        self.request.url()
    }

    fn header(&self, name: &str) -> Option<String> {
        NAMES
            .with_borrow_mut(|names| {
                if let Some((_, known)) = names.iter().find(|(known, _)| known == name) {
                    return self.headers.get(known);
                }
                let converted = JsString::from(name);
                let value = self.headers.get(&converted);
                if names.len() < HEADER_NAMES {
                    names.push((name.to_owned(), converted));
                }
                value
            })
            // `get` fails only if the name is invalid for a header.
            .ok()
            .flatten()
    }

    async fn body(&self, limit: usize) -> Result<Vec<u8>, BodyError> {
        let body = match self.body.take() {
            Some(body) => body,
            None => self.read(limit).boxed_local().await?,
        };
        if body.length() as usize > limit { Err(BodyError::TooLarge) } else { Ok(body.to_vec()) }
    }

    fn client_address(&self) -> Option<IpAddr> {
        // Cloudflare overwrites this header. `wrangler dev` sets it only if the client did not.
        let address = self.header("cf-connecting-ip")?;
        // An address that cannot be parsed, such as one with a zone, counts as remote: the unspecified address is not loopback.
        Some(address.parse().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
    }

    fn request_id(&self) -> Option<String> {
        self.header("cf-ray")
    }
}
