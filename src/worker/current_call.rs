//! The call whose code runs in the wasm module. After a panic, `entry.js` gets its number.

use std::cell::Cell;

thread_local! {
    static CURRENT: Cell<u32> = const { Cell::new(0) };
}

/// Sets the current call. Every poll of a future sets it, because the futures of several calls alternate.
pub(super) fn enter(call: u32) {
    CURRENT.set(call);
}

/// Returns the number of the current call.
#[cfg(not(panic = "unwind"))]
pub(super) fn get() -> u32 {
    CURRENT.get()
}
