//! The number of tasks that a caller has at the same time. One object counts them.

use super::message::Reply;
use super::rows::Rows;

/// The prefix of the rows with the times at which tasks expire.
const ACTIVE: &str = "active:";

/// Counts a task, unless the caller has `most` others.
pub(super) fn enter(rows: &Rows, task: &str, most: u64, expires_ms: u64, now: u64) -> Result<Reply, String> {
    let key = format!("{ACTIVE}{task}");
    let active = active(rows, now)?;
    let others = active.iter().filter(|(known, _)| *known != key);
    let expiries: Vec<u64> = others.map(|(_, expires)| *expires).collect();
    if u64::try_from(expiries.len()).unwrap_or(u64::MAX) >= most {
        return Ok(Reply::Full(expiries.into_iter().min().unwrap_or(now)));
    }
    // The alarm comes first: a row without an alarm would never be deleted.
    rows.set_alarm(expiries.into_iter().chain([expires_ms]).min().unwrap_or(expires_ms))?;
    rows.write(&key, &expires_ms)?;
    Ok(Reply::Counted)
}

/// Stops counting a task.
pub(super) fn leave(rows: &Rows, task: &str) -> Result<Reply, String> {
    rows.delete(&format!("{ACTIVE}{task}"))?;
    Ok(Reply::Counted)
}

/// Stops counting the tasks that have expired, and deletes a count that is empty.
pub(super) fn expire(rows: &Rows, now: u64) -> Result<(), String> {
    match active(rows, now)?.into_iter().map(|(_, expires)| expires).min() {
        Some(next) => rows.set_alarm(next),
        None => rows.clear(),
    }
}

/// Returns the tasks that have not expired, and deletes the others.
fn active(rows: &Rows, now: u64) -> Result<Vec<(String, u64)>, String> {
    let mut active = Vec::new();
    for (key, expires) in rows.list::<u64>(ACTIVE)? {
        if expires > now {
            active.push((key, expires));
        } else {
            rows.delete(&key)?;
        }
    }
    Ok(active)
}
