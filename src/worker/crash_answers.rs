//! The answers to the pending calls if the module breaks.
//!
//! They stay in the memory of the module, and `entry.js` gets them only when it breaks: few calls need them, and a call of JavaScript for
//! each request would cost more than all else that is done here.

use std::cell::RefCell;

use worker::wasm_bindgen;
use worker::wasm_bindgen::prelude::wasm_bindgen;

use crate::host::CrashAnswer;
use crate::limits::CRASH_ANSWERS;

#[wasm_bindgen(module = "/src/worker/entry.js")]
extern "C" {
    #[wasm_bindgen(js_name = keepAnswer)]
    fn keep_answer(call: u32, lines: &[u8], is_batch: bool);
}

struct Kept {
    call: u32,
    /// The beginning of the log line, and then a line for each id. JSON has no line break within a string or a number.
    lines: Vec<u8>,
    is_batch: bool,
}

thread_local! {
    static KEPT: RefCell<Vec<Kept>> = const { RefCell::new(Vec::new()) };
}

/// Keeps the answer to `call`. If there are too many, which happens only if the platform stops calls without dropping their values, the
/// oldest is forgotten.
pub(super) fn keep(call: u32, CrashAnswer { ids, is_batch, log_line }: CrashAnswer<'_>) {
    let mut lines = log_line.to_vec();
    for id in ids {
        lines.push(b'\n');
        lines.extend_from_slice(id.as_bytes());
    }
    // A module that unwinds has no function that runs when it breaks.
    if cfg!(panic = "unwind") {
        return keep_answer(call, &lines, is_batch);
    }
    KEPT.with_borrow_mut(|kept| {
        if kept.len() >= CRASH_ANSWERS {
            kept.remove(0);
        }
        kept.push(Kept { call, lines, is_batch });
    });
}

/// Forgets the answer to a call that has ended.
pub(super) fn forget(call: u32) {
    KEPT.with_borrow_mut(|kept| kept.retain(|answer| answer.call != call));
}

/// Passes all answers to `entry.js`. The module has broken, possibly while it changed the list.
#[cfg(not(panic = "unwind"))]
pub(super) fn hand_over() {
    KEPT.with(|kept| {
        for Kept { call, lines, is_batch } in kept.try_borrow().iter().flat_map(|kept| kept.iter()) {
            keep_answer(*call, lines, *is_batch);
        }
    });
}
