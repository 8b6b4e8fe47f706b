//! The call that the module works on, so that `entry.js` knows which call a panic belongs to.

use std::cell::Cell;

thread_local! {
    static CURRENT: Cell<u32> = const { Cell::new(0) };
}

/// Marks the code that runs next as part of `call`. Every poll of a future sets it, since calls take turns.
pub(super) fn enter(call: u32) {
    CURRENT.set(call);
}

/// The number of the call that was entered last.
#[cfg(not(panic = "unwind"))]
pub(super) fn get() -> u32 {
    CURRENT.get()
}
