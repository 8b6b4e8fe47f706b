//! The body of a Workers request.

use worker::js_sys::futures::JsFuture;
use worker::js_sys::{Promise, Uint8Array};
use worker::wasm_bindgen::prelude::wasm_bindgen;
use worker::wasm_bindgen::{self, JsCast};
use worker::web_sys;

use crate::host::{BodyError, RequestBody};

#[wasm_bindgen(module = "/src/worker/entry.js")]
extern "C" {
    #[wasm_bindgen(js_name = read)]
    fn read_body(request: &web_sys::Request, limit: u32) -> Promise;
}

pub(super) struct WorkerBody {
    pub request: web_sys::Request,
    /// The body, if it was read already.
    pub read: Option<Uint8Array>,
}

impl RequestBody for WorkerBody {
    async fn read(self, limit: usize) -> Result<Vec<u8>, BodyError> {
        let body = if let Some(body) = self.read {
            body
        } else {
            let most = u32::try_from(limit).unwrap_or(u32::MAX);
            let read = JsFuture::from(read_body(&self.request, most)).await;
            let read = read.map_err(|error| BodyError::Broken(format!("{error:?}")))?;
            read.dyn_into::<Uint8Array>().map_err(|_| BodyError::TooLarge)?
        };
        if body.length() as usize > limit { Err(BodyError::TooLarge) } else { Ok(body.to_vec()) }
    }
}
