//! The head of a Workers request. Its headers stay in JavaScript, and each is fetched when it is asked for.
//!
//! No other file names a header of Cloudflare's.

use std::cell::RefCell;
use std::net::{IpAddr, Ipv4Addr};

use worker::js_sys::JsString;
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsValue};
use worker::web_sys;

use crate::host::RequestHead;
use crate::limits::HEADER_NAMES;

#[wasm_bindgen]
extern "C" {
    type Headers;

    // The binding of web-sys takes the name as a text, which JavaScript has to decode each time.
    #[wasm_bindgen(method, catch)]
    fn get(this: &Headers, name: &JsString) -> Result<Option<String>, JsValue>;
}

thread_local! {
    /// The names that were asked for, as JavaScript has them: for each request they are the same few.
    static NAMES: RefCell<Vec<(String, JsString)>> = const { RefCell::new(Vec::new()) };
}

pub(super) struct WorkerHead {
    request: web_sys::Request,
    headers: Headers,
}

impl WorkerHead {
    pub(super) fn new(request: &web_sys::Request) -> Self {
        // Another handle to it. Its own method of that name would copy it, body and all.
        Self { headers: JsValue::from(request.headers()).into(), request: Clone::clone(request) }
    }
}

impl RequestHead for WorkerHead {
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
                let made = JsString::from(name);
                let value = self.headers.get(&made);
                if names.len() < HEADER_NAMES {
                    names.push((name.to_owned(), made));
                }
                value
            })
            // The only failure is a name that is no header's: there is none of it.
            .ok()
            .flatten()
    }

    fn client_address(&self) -> Option<IpAddr> {
        // Cloudflare overwrites this header. `wrangler dev` sets it only if the client did not.
        let address = self.header("cf-connecting-ip")?;
        // An address that cannot be read, such as one with a zone, is treated as remote: the unspecified address is not loopback.
        Some(address.parse().unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
    }

    fn request_id(&self) -> Option<String> {
        self.header("cf-ray")
    }
}
