//! How much memory the module uses, as the tool `memory` reports it.

use std::alloc::System;

use cap::Cap;
use edge_mcp::Json;
use schemars::JsonSchema;
use serde::Serialize;
use worker::js_sys::{ArrayBuffer, WebAssembly};
use worker::wasm_bindgen::{self, JsCast};

/// The system's allocator, which counts. It has no limit of its own.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

#[derive(Serialize, JsonSchema)]
pub(crate) struct Memory {
    /// Bytes that are allocated now.
    live: usize,
    /// The most bytes that were allocated at one time since the module started.
    peak: usize,
    /// Bytes of the module's linear memory. It never shrinks.
    linear: u32,
}

pub(crate) async fn memory() -> Json<Memory> {
    let memory: WebAssembly::Memory = wasm_bindgen::memory().unchecked_into();
    let buffer: ArrayBuffer = memory.buffer().unchecked_into();
    Json(Memory { live: ALLOCATOR.allocated(), peak: ALLOCATOR.max_allocated(), linear: buffer.byte_length() })
}
