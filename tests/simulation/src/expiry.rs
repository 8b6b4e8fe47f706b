//! What a caller keeps until it has expired, and then uses: request states, and the ids of tasks. The program must refuse both.

use serde_json::{Value, json};

use crate::caller::Caller;
use crate::faults::Point;
use crate::ledger::Invariant;

/// The lifetime of a request state in milliseconds.
const STATE_MS: u64 = 600_000;
/// The most things that a caller keeps.
const MOST: usize = 4;

/// Something that a caller keeps, and the time of its expiry in milliseconds since 1970.
pub enum Kept {
    /// The parameters of a round.
    State(u64, Value),
    /// The id of a task.
    Task(u64, String),
}

impl Kept {
    fn expires_ms(&self) -> u64 {
        let (Self::State(expires_ms, _) | Self::Task(expires_ms, _)) = self;
        *expires_ms
    }
}

impl Caller {
    /// Keeps the parameters of a round, whose state was made before now.
    pub fn keep_state(&self, params: &Value) {
        self.keep(Kept::State(self.world().schedule.now_ms() + STATE_MS, params.clone()));
    }

    /// Keeps a task.
    pub fn keep_task(&self, task: &Value) {
        let created_ms = task["createdAt"].as_str().and_then(milliseconds);
        let (Some(id), Some(created_ms), Some(ttl_ms)) = (task["taskId"].as_str(), created_ms, task["ttlMs"].as_u64())
        else {
            return self.violate(Invariant::OneAnswer, format!("a task has no id, no time or no lifetime: {task}"));
        };
        self.keep(Kept::Task(created_ms + ttl_ms, id.to_owned()));
    }

    fn keep(&self, kept: Kept) {
        let mut all = self.kept.borrow_mut();
        if all.len() < MOST {
            all.push(kept);
        }
    }

    /// Uses what the caller has kept, after its expiry.
    pub async fn use_what_has_expired(&self) {
        let mut kept = self.kept.take();
        kept.sort_by_key(Kept::expires_ms);
        for kept in kept {
            if !self.fires(Point::CallerIsLate) {
                continue;
            }
            let schedule = &self.world().schedule;
            schedule.sleep(kept.expires_ms().saturating_sub(schedule.now_ms())).await;
            match kept {
                Kept::State(_, params) => self.use_state(params).await,
                Kept::Task(_, id) => self.use_task(&id).await,
            }
        }
    }

    async fn use_state(&self, params: Value) {
        let tool = params["name"].as_str().unwrap_or_default().to_owned();
        let Some(answer) = self.post("tools/call", params, Some(&tool)).await else { return };
        let is_accepted = answer["error"].is_null();
        self.world().ledger.check(!is_accepted, Invariant::Expiry, || {
            format!("{}: a state that has expired is accepted: {answer}", self.name())
        });
    }

    async fn use_task(&self, id: &str) {
        for method in ["tasks/get", "tasks/cancel"] {
            let Some(answer) = self.post(method, json!({ "taskId": id }), Some(id)).await else { continue };
            self.world().ledger.check(answer["error"].is_object(), Invariant::Expiry, || {
                format!("{}: {method} answers about a task that has expired: {answer}", self.name())
            });
        }
    }
}

/// Returns the milliseconds since 1970 of a time such as `2027-01-15T08:00:00.000Z`.
fn milliseconds(time: &str) -> Option<u64> {
    let number = |from: usize, to: usize| time.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    // The year begins in March, so that the leap day is its last day.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 719_469;
    let seconds = days * 86_400 + number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?;
    Some(seconds * 1000 + number(20, 23).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::milliseconds;

    #[test]
    fn a_time_has_its_milliseconds() {
        for (time, ms) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2027-01-15T08:00:00.000Z", 1_800_000_000_000),
            ("2028-02-29T23:59:59.999Z", 1_835_481_599_999),
            ("2028-03-01T00:00:00.000Z", 1_835_481_600_000),
        ] {
            assert_eq!(milliseconds(time), Some(ms), "{time}");
        }
    }
}
