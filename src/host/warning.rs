//! Warnings that are written once per isolate, not with every request.

use std::cell::RefCell;
use std::rc::Rc;

use crate::host::{Host, Level};
use crate::limits::WARNINGS;

thread_local! {
    static WRITTEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Writes a warning, unless this isolate has written it before.
pub(crate) fn once(host: &Rc<dyn Host>, event: &str, problem: &str) {
    let is_new = WRITTEN.with_borrow_mut(|written| {
        let is_new = written.len() < WARNINGS && written.iter().all(|known| known != problem);
        if is_new {
            written.push(problem.to_owned());
        }
        is_new
    });
    if is_new {
        let line = serde_json::json!({ "event": event, "problem": problem }).to_string();
        host.log(Level::Warning, &line);
    }
}
