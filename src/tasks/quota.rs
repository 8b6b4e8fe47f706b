//! The number of tasks that a caller has at the same time. One object counts them.
//!
//! A task first takes a place for a minute, before it exists, and at its first attempt until it expires. So a call that ends in between does not keep
//! its place.

use super::message::{Entry, TaskReply};
use super::rows::StoredRows;
use super::stored::{Stored, stored};

/// The prefix of the rows with each [`TakenPlace`].
const ACTIVE: &str = "active:";

/// A place that is taken.
struct TakenPlace {
    /// The time until which it is taken, in milliseconds since 1970.
    until_ms: u64,
    /// The time at which its task expires.
    expires_ms: u64,
}

stored!(TakenPlace { until_ms: "untilMs", expires_ms: "expiresMs" });

/// Counts a task, unless the caller has enough others.
pub(super) fn enter(rows: &StoredRows, entry: Entry, now: u64) -> Result<TaskReply, String> {
    let Entry { place, most, until_ms, expires_ms } = entry;
    let key = format!("{ACTIVE}{place}");
    let mut others = active(rows, now)?;
    others.retain(|(known, _)| *known != key);
    if u64::try_from(others.len()).unwrap_or(u64::MAX) >= most {
        return Ok(TaskReply::Full(others.iter().map(|(_, place)| place.expires_ms).min().unwrap_or(now)));
    }
    // The alarm comes first: a row without an alarm would never be deleted.
    rows.set_alarm(others.iter().map(|(_, place)| place.until_ms).min().unwrap_or(until_ms).min(until_ms))?;
    rows.write(&key, &TakenPlace { until_ms, expires_ms })?;
    Ok(TaskReply::Counted)
}

/// Stops counting a task.
pub(super) fn leave(rows: &StoredRows, place: &str) -> Result<TaskReply, String> {
    rows.delete(&format!("{ACTIVE}{place}"))?;
    Ok(TaskReply::Counted)
}

/// Stops counting the tasks that have expired, and deletes a count that is empty.
pub(super) fn expire(rows: &StoredRows, now: u64) -> Result<(), String> {
    match active(rows, now)?.into_iter().map(|(_, place)| place.until_ms).min() {
        Some(next) => rows.set_alarm(next),
        None => rows.clear(),
    }
}

/// Returns the places that are taken, and deletes the others. A row of another version is deleted too: it would otherwise refuse each call.
fn active(rows: &StoredRows, now: u64) -> Result<Vec<(String, TakenPlace)>, String> {
    let mut active = Vec::new();
    for (key, row) in rows.list_bytes(ACTIVE)? {
        match TakenPlace::parse(&row).filter(|place| place.until_ms > now) {
            Some(place) => active.push((key, place)),
            None => rows.delete(&key)?,
        }
    }
    Ok(active)
}
