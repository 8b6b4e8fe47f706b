//! A tool whose calls with one key are one task, and callers that repeat, cancel and outlive such tasks at the same time. A call depends only
//! on what came before it: it never ends with the outcome of a task that had ended for its caller when the call began.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::tasks::Task;
use edge_mcp::{Context, HandlerError, McpServerBuilder, Tool};
use edge_mcp_test_support::random::Random;
use futures::future::join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::faults::Point;
use crate::ledger::{Invariant, mark};
use crate::world::World;

/// The name of the tool, the lifetime of its tasks in milliseconds, and the most tasks of a caller.
pub const ONCE: &str = "once";
const TTL_MS: u64 = 600_000;
pub const PER_CALLER: usize = 2;
/// The faults after which nobody knows what has arrived, and when.
const UNKNOWN: &[Point] = &[Point::RequestTwice, Point::ClockJumps];
/// The most polls of a task.
const POLLS: usize = 60;

/// What a caller does with a key.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub enum Act {
    /// Calls the tool.
    Call(Handled),
    /// Cancels the task.
    Cancel,
}

/// What the handler does.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub enum Handled {
    /// Waits for another server first, for some milliseconds.
    Waits(u64),
    /// Sleeps first, for some seconds.
    Sleeps(u64),
    /// Has a step that takes some milliseconds.
    Steps(u64),
}

/// The arguments of the tool.
#[derive(Clone, Deserialize, JsonSchema)]
struct Arguments {
    key: String,
    number: usize,
    handled: Handled,
}

/// Returns random acts, with the times at which they begin in milliseconds.
pub fn acts(random: &mut Random) -> Vec<(u64, Act)> {
    let handled = |random: &mut Random| match random.below(4) {
        0 => Handled::Waits(random.below(4000) as u64),
        1 | 2 => Handled::Sleeps(1 + random.below(30) as u64),
        _ => Handled::Steps(if random.once_in(2) { TTL_MS + 30_000 } else { random.below(4000) as u64 }),
    };
    let mut acts = vec![(0, Act::Call(handled(random)))];
    let mut at = [1000, 5000, TTL_MS - 60_000][random.below(3)];
    for _ in 0..1 + random.below(3) {
        at += [0, 0, 1, 300, 3000, TTL_MS][random.below(6)];
        let act = if random.once_in(2) { Act::Cancel } else { Act::Call(handled(random)) };
        acts.push((at, act));
    }
    acts.push((at + [0, 1, 300][random.below(3)], Act::Call(handled(random))));
    acts
}

/// Adds the tool.
pub fn add(server: McpServerBuilder, world: &Rc<World>) -> McpServerBuilder {
    let world = world.clone();
    let once = move |arguments: Arguments, cx: Context| handle(world.clone(), arguments, cx);
    let task = Task::new().ttl(Duration::from_millis(TTL_MS)).per_caller(PER_CALLER as u32);
    let task = task.dedupe(|arguments: Arguments| arguments.key);
    server.tool(Tool::new(ONCE, "Works once.", once).deadline(Duration::from_secs(280)).task(task))
}

async fn handle(world: Rc<World>, arguments: Arguments, cx: Context) -> Result<String, HandlerError> {
    let Arguments { key, number, handled } = arguments;
    let ms = match handled {
        Handled::Waits(ms) => {
            world.schedule.sleep(ms).await;
            0
        }
        Handled::Sleeps(seconds) => {
            cx.sleep(Duration::from_secs(seconds)).await;
            0
        }
        Handled::Steps(ms) => ms,
    };
    cx.step("work", &number, async || {
        world.schedule.sleep(ms).await;
        world.worked.borrow_mut().insert((key.clone(), number));
        Ok::<_, HandlerError>(())
    })
    .await?;
    Ok(number.to_string())
}

/// The handlers that have worked: the keys and the numbers of their calls.
pub type Worked = RefCell<BTreeSet<(String, usize)>>;

/// What a caller knows about an act, with times in milliseconds since 1970.
#[derive(Clone, Debug)]
struct Done {
    began: u64,
    /// The time of the answer, and the task, if an answer has arrived that has one.
    answered: Option<(u64, Value)>,
    is_call: bool,
}

impl Caller {
    /// Acts on a key, and then polls the task.
    pub async fn once(&self, acts: &[(u64, Act)]) {
        let key = mark(self.name(), &format!("key-{}", self.next_number()));
        let began = self.world().schedule.now_ms();
        let id = RefCell::new(None);
        let done = join_all(acts.iter().enumerate().map(|(number, (at, act))| {
            let (key, id) = (&key, &id);
            async move {
                let schedule = &self.world().schedule;
                schedule.sleep((began + at).saturating_sub(schedule.now_ms())).await;
                self.act(key, number, act, id).await
            }
        }))
        .await;
        let Some(id) = id.take() else { return };
        for _ in 0..POLLS {
            let answer = self.post("tasks/get", json!({ "taskId": id }), Some(&id)).await;
            let task = answer.map(|answer| answer["result"].clone()).unwrap_or_default();
            match task["status"].as_str() {
                Some("working" | "input_required") => {
                    let ms = task["pollIntervalMs"].as_u64().unwrap_or(1000).max(1000);
                    self.world().schedule.sleep(ms).await;
                }
                Some("completed") => return self.check_outcome(&key, &done, &task),
                Some("cancelled") => return self.check_cancelled(&done),
                // It has failed, or it has expired.
                _ => return,
            }
        }
    }

    async fn act(&self, key: &str, number: usize, act: &Act, id: &RefCell<Option<String>>) -> Done {
        let began = self.world().schedule.now_ms();
        let is_call = matches!(act, Act::Call(_));
        let answer = match act {
            Act::Call(handled) => {
                let arguments = json!({ "key": key, "number": number, "handled": handled });
                self.post("tools/call", json!({ "name": ONCE, "arguments": arguments }), Some(ONCE)).await
            }
            Act::Cancel => {
                let Some(known) = id.borrow().clone() else { return Done { began, answered: None, is_call } };
                match self.post("tasks/cancel", json!({ "taskId": known }), Some(&known)).await {
                    Some(_) => self.post("tasks/get", json!({ "taskId": known }), Some(&known)).await,
                    None => None,
                }
            }
        };
        let result = answer.map(|answer| answer["result"].clone()).filter(Value::is_object);
        if let Some(known) = result.as_ref().and_then(|result| result["taskId"].as_str()) {
            id.replace(Some(known.to_owned()));
        }
        let answered = result.map(|result| (self.world().schedule.now_ms(), result));
        Done { began, answered, is_call }
    }

    /// Checks that the task of the last call has not ended with the outcome of an earlier task.
    fn check_outcome(&self, key: &str, done: &[Done], task: &Value) {
        let world = self.world();
        let text = task["result"]["content"][0]["text"].as_str().unwrap_or_default();
        let number: usize = text.parse().unwrap_or(usize::MAX);
        let has_worked = world.worked.borrow().contains(&(key.to_owned(), number));
        let is_error = task["result"]["isError"] == true;
        world.ledger.check(has_worked || is_error, Invariant::NoLostEffect, || {
            format!("{key} ends with {task}, and the handler has not worked")
        });
        let last = done.iter().rposition(|done| done.is_call && is_task(done));
        let (Some(last), Some(of)) = (last, done.get(number)) else { return };
        if number == last || world.faults.has_fired(UNKNOWN) {
            return;
        }
        let Some((of_answered, _)) = of.answered else { return };
        let last_began = done[last].began;
        let is_cancelled = done.iter().any(|cancel| {
            !cancel.is_call
                && cancel.began >= of_answered
                && is_in(cancel, "cancelled").is_some_and(|at| at <= last_began)
        });
        let has_expired = of_answered + TTL_MS <= last_began;
        world.ledger.check(!is_cancelled && !has_expired, Invariant::OwnResult, || {
            format!("the call {last} of {key} ends with the outcome of the call {number}, which had ended: {done:?}")
        });
    }

    /// Checks that a cancelled task was cancelled after its last call began.
    fn check_cancelled(&self, done: &[Done]) {
        let world = self.world();
        let cancels: Vec<_> = done.iter().filter(|done| !done.is_call).collect();
        let is_known = cancels.iter().all(|cancel| cancel.answered.is_some());
        let last = done.iter().rev().find(|done| done.is_call && is_task(done));
        let (Some(last), true) = (last, is_known && !world.faults.has_fired(UNKNOWN)) else { return };
        let is_late = |cancel: &&&Done| cancel.answered.as_ref().is_some_and(|(at, _)| *at > last.began);
        world.ledger.check(cancels.iter().any(|cancel| is_late(&cancel)), Invariant::OwnResult, || {
            format!("{}: a call is cancelled by a cancellation before it: {done:?}", self.name())
        });
    }
}

/// Returns whether the answer to a call is a task.
fn is_task(done: &Done) -> bool {
    done.answered.as_ref().is_some_and(|(_, task)| task["taskId"].is_string())
}

/// Returns the time of an answer that has a task with this status.
fn is_in(done: &Done, status: &str) -> Option<u64> {
    done.answered.as_ref().filter(|(_, task)| task["status"] == status).map(|(at, _)| *at)
}
