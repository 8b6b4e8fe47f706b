//! What the log of an isolate needs to be told once, and not with every request.

use std::cell::RefCell;

use crate::host::{Host, Level};
use crate::limits::WARNINGS;

thread_local! {
    static TOLD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Writes a warning, unless it has been written before.
pub(crate) fn once(host: &Host, event: &str, problem: &str) {
    let is_new = TOLD.with_borrow_mut(|told| {
        let is_new = told.len() < WARNINGS && told.iter().all(|known| known != problem);
        if is_new {
            told.push(problem.to_owned());
        }
        is_new
    });
    if is_new {
        let line = serde_json::json!({ "event": event, "problem": problem }).to_string();
        host.log.write(Level::Warning, &line);
    }
}
