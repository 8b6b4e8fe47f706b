//! Hands the host all that it needs to answer a request if the program crashes.

use super::log_line::LogLine;
use crate::host::{CrashAnswer, Host};
use crate::protocol::message::RequestId;

/// Bytes of ids that are kept for each HTTP request. A message with more gets an error without an id if the program crashes.
const CRASH_ID_BYTES: usize = 16 << 10;

/// Hands the ids of the requests, and the beginning of their log line, to the host.
pub(super) fn keep<'r>(host: &Host, ids: impl IntoIterator<Item = &'r RequestId>, is_batch: bool, line: &LogLine) {
    let mut ids: Vec<&str> = ids.into_iter().map(RequestId::as_json).collect();
    if ids.iter().map(|id| id.len()).sum::<usize>() > CRASH_ID_BYTES {
        ids.clear();
    }
    host.tasks.keep_crash_answer(CrashAnswer { ids: &ids, is_batch, log_line: line.begun() });
}
