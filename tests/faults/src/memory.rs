//! The tool `memory`, which reports the memory that the module uses.

use std::alloc::System;

use cap::Cap;
use edge_mcp::Json;
use schemars::JsonSchema;
use serde::Serialize;
use worker::js_sys::{ArrayBuffer, WebAssembly};
use worker::wasm_bindgen::{self, JsCast};

/// The system's allocator with counters. Its limit is the largest possible one.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

#[derive(Serialize, JsonSchema)]
pub(crate) struct Memory {
    /// The allocated bytes.
    live: usize,
    /// The highest number of allocated bytes since the module started.
    peak: usize,
    /// The size of the module's linear memory in bytes. It never shrinks.
    linear: u32,
}

pub(crate) async fn memory() -> Json<Memory> {
    let memory: WebAssembly::Memory = wasm_bindgen::memory().unchecked_into();
    let buffer: ArrayBuffer = memory.buffer().unchecked_into();
    Json(Memory { live: ALLOCATOR.allocated(), peak: ALLOCATOR.max_allocated(), linear: buffer.byte_length() })
}
