//! Log lines about problems, and warnings that each isolate logs only once.

use std::cell::RefCell;
use std::rc::Rc;

use edge_json::{object, write};

use crate::host::{Host, Level};
use crate::limits::WARNINGS;

thread_local! {
    static WRITTEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Logs a warning, unless this isolate has logged it before. An isolate logs at most [`WARNINGS`] different warnings.
pub(crate) fn once(host: &Rc<dyn Host>, event: &str, problem: &str) {
    let is_new = WRITTEN.with_borrow_mut(|written| {
        let is_new = written.len() < WARNINGS && written.iter().all(|known| known != problem);
        if is_new {
            written.push(problem.to_owned());
        }
        is_new
    });
    if is_new {
        log(host, Level::Warning, event, problem);
    }
}

/// Logs a problem.
pub(crate) fn log(host: &Rc<dyn Host>, level: Level, event: &str, problem: &str) {
    host.log(level, &write::text(&object(vec![("event", event.into()), ("problem", problem.into())])));
}
