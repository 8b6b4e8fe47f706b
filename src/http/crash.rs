//! The data from which the host answers a request if the program crashes.

use std::rc::Rc;

use super::log_line::LogLine;
use crate::host::{CrashAnswer, Host};
use crate::limits::CRASH_ID_BYTES;
use crate::protocol::message::RequestId;

/// Passes the ids of the requests and the beginning of their log line to the host. If the ids together exceed [`CRASH_ID_BYTES`], it
/// passes no ids.
pub(super) fn keep<'r>(
    host: &Rc<dyn Host>,
    ids: impl IntoIterator<Item = &'r RequestId>,
    is_batch: bool,
    line: &LogLine,
) {
    let mut ids: Vec<&str> = ids.into_iter().map(RequestId::as_json).collect();
    if ids.iter().map(|id| id.len()).sum::<usize>() > CRASH_ID_BYTES {
        ids.clear();
    }
    host.keep_crash_answer(CrashAnswer { ids: &ids, is_batch, log_line: line.begun() });
}
