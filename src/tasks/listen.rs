//! `subscriptions/listen` with `taskIds`: the changes of tasks, as notifications on a stream.
//!
//! The request asks the objects of its tasks again and again, and sleeps in between. If it waited in the objects instead, they would be
//! active meanwhile.
//!
//! Source: ext-tasks, specification 2026-07-28, "Task Status Notifications"; 2026-07-28, basic/patterns/subscriptions.

use std::time::Duration;

use edge_json::write;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Map;

use super::follow::find;
use super::message::View;
use super::stored::{Stored, stored};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::limits::{LISTEN_SECONDS, LISTENED_TASKS, TASK_REQUESTS_SECONDS};
use crate::protocol::revision::Revision;
use crate::protocol::task::EXTENSION;
use crate::server::extension::{ExtensionMethod, ExtensionResult};

/// The least time between two polls, in milliseconds.
const LEAST_POLL_MS: u64 = 1000;

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
struct ListenParams {
    notifications: TaskFilter,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("additionalProperties" = true))]
struct TaskFilter {
    task_ids: Vec<String>,
}

/// Returns the method. It serves only requests that name tasks.
pub(super) fn method() -> ExtensionMethod {
    let method = ExtensionMethod::new("subscriptions/listen", listen).since(Revision::V2026_07_28).requires_client();
    let mut method = method.of_extension(EXTENSION);
    // The stream ends before this deadline.
    method.deadline = Duration::from_secs(LISTEN_SECONDS.saturating_add(TASK_REQUESTS_SECONDS));
    method
}

/// A task that a client listens to.
struct Listened {
    id: String,
    view: View,
    /// The status, the message and the time of the state that was sent last.
    sent: Option<(String, Option<String>, String)>,
    /// The time after which the task is read again, in milliseconds.
    poll_ms: u64,
}

/// The members of the description of a task that this method reads.
struct ListenedState {
    status: String,
    status_message: Option<String>,
    last_updated_at: String,
    poll_interval_ms: u64,
}

stored!(ListenedState {
    status: "status",
    status_message: "statusMessage",
    last_updated_at: "lastUpdatedAt",
    poll_interval_ms: "pollIntervalMs"
});

/// Acknowledges the tasks that the caller has, and sends their states until they have ended, or until the time of the stream is over. If the
/// client disconnects, the call is dropped.
async fn listen(ListenParams { notifications }: ListenParams, cx: Context) -> Result<ExtensionResult, HandlerError> {
    let ends_ms = ends_ms(&cx);
    let mut ids = notifications.task_ids;
    ids.truncate(LISTENED_TASKS);
    let mut tasks: Vec<Listened> = Vec::new();
    for id in ids {
        // The answer does not reveal why an id is not accepted.
        if !tasks.iter().any(|task| task.id == id)
            && let Some(view) = find(&id, &cx).await?
        {
            tasks.push(Listened { id, view, sent: None, poll_ms: 0 });
        }
    }
    let accepted: Vec<_> = tasks.iter().map(|task| task.id.as_str()).collect();
    let accepted = format!("{{\"notifications\":{{\"taskIds\":{}}}}}", write::to_string(&accepted)?);
    send(&cx, "notifications/subscriptions/acknowledged", &accepted);
    loop {
        tasks.retain_mut(|task| task.goes_on(&cx));
        let poll_ms = tasks.iter().map(|task| task.poll_ms).min().unwrap_or_default().max(LEAST_POLL_MS);
        let is_exhausted = cx.live().is_none_or(|live| live.outbox.is_exhausted());
        if tasks.is_empty() || is_exhausted || cx.now_ms().saturating_add(poll_ms) >= ends_ms {
            return ExtensionResult::new(&Map::new());
        }
        cx.host().sleep(Duration::from_millis(poll_ms)).await;
        let mut found = Vec::new();
        for task in tasks {
            if task.view.state.is_final() {
                // The client has not read the notifications before the end of this task.
                found.push(task);
                continue;
            }
            match find(&task.id, &cx).await {
                Ok(Some(view)) => found.push(Listened { view, ..task }),
                // The task has expired.
                Ok(None) => {}
                // The object cannot be reached now.
                Err(_) => found.push(task),
            }
        }
        tasks = found;
    }
}

impl Listened {
    /// Sends the state, unless it was sent before. Returns whether the client has to hear of the task again.
    fn goes_on(&mut self, cx: &Context) -> bool {
        let Some(task) = ListenedState::parse(self.view.task.get().as_bytes()) else { return false };
        self.poll_ms = task.poll_interval_ms;
        let state = (task.status, task.status_message, task.last_updated_at);
        if self.sent.as_ref() != Some(&state) {
            if !send(cx, "notifications/tasks", self.view.detailed(&self.id).get()) {
                // The client has not read the notifications before.
                self.poll_ms = 0;
                return true;
            }
            self.sent = Some(state);
        }
        !self.view.state.is_final()
    }
}

/// Returns the time at which the stream ends at the latest, in milliseconds.
fn ends_ms(cx: &Context) -> u64 {
    let longest = cx.now_ms().saturating_add(LISTEN_SECONDS.saturating_mul(1000));
    let expires = cx.request().checked_caller().and_then(|caller| caller.expires);
    expires.map_or(longest, |expires| longest.min(expires.saturating_mul(1000)))
}

/// Sends a notification of the subscription, and returns whether it was sent. `params` is an object with members.
fn send(cx: &Context, method: &'static str, params: &str) -> bool {
    cx.live().is_some_and(|live| live.send_of_subscription(cx.request_id(), method, params))
}
