//! Log lines about failures and problems, and warnings that each isolate logs only once.

use std::cell::RefCell;
use std::rc::Rc;

use edge_json::{object, write};

use crate::host::{Host, Level};
use crate::limits::WARNINGS;
use crate::text::shortened;

/// The warnings about one party that an isolate has logged.
struct Share {
    event: String,
    party: String,
    subjects: Vec<String>,
}

thread_local! {
    static WRITTEN: RefCell<Vec<Share>> = const { RefCell::new(Vec::new()) };
}

/// Logs a warning, unless this isolate has logged it before. For a warning whose text does not depend on what others send.
pub(crate) fn warning_once(host: &Rc<dyn Host>, event: &str, problem: &str) {
    warning_once_about(host, event, ["", problem], problem);
}

/// Logs a warning about a subject of a party, unless this isolate has logged a warning of this event about this subject before.
///
/// A party is another program that can choose the subjects and the texts, such as a mounted server. Its name comes from this program. Each party has
/// its own [`WARNINGS`] subjects, so it cannot silence the warnings about another one.
pub(crate) fn warning_once_about(host: &Rc<dyn Host>, event: &str, [party, subject]: [&str; 2], problem: &str) {
    let is_new = WRITTEN.with_borrow_mut(|written| {
        let share = written.iter_mut().find(|share| share.event == event && share.party == party);
        let Some(Share { subjects, .. }) = share else {
            let subjects = vec![subject.to_owned()];
            written.push(Share { event: event.to_owned(), party: party.to_owned(), subjects });
            return true;
        };
        let is_new = subjects.len() < WARNINGS && subjects.iter().all(|known| known != subject);
        if is_new {
            subjects.push(subject.to_owned());
        }
        is_new
    });
    if is_new {
        warning(host, event, problem);
    }
}

/// Logs why `subject` (a tool, a URI scheme, a method, the server) failed. The caller gets a fixed text.
pub(crate) fn failure(host: &Rc<dyn Host>, subject: &str, cause: &str) {
    let members = vec![("event", "failure".into()), ("subject", shortened(subject).into()), ("cause", cause.into())];
    host.log(Level::Error, &write::text(&object(members)));
}

pub(crate) fn warning(host: &Rc<dyn Host>, event: &str, problem: &str) {
    line(host, Level::Warning, event, problem);
}

pub(crate) fn line(host: &Rc<dyn Host>, level: Level, event: &str, problem: &str) {
    host.log(level, &write::text(&object(vec![("event", event.into()), ("problem", problem.into())])));
}
