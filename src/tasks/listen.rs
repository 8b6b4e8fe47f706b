//! `subscriptions/listen` with `taskIds`: the changes of tasks, as notifications on a stream.
//!
//! The request asks the objects of its tasks again and again, and sleeps in between. If it waited in the objects instead, they would be
//! active meanwhile.
//!
//! Source: ext-tasks, specification 2026-07-28, "Task Status Notifications"; 2026-07-28, basic/patterns/subscriptions.

use std::time::Duration;

use edge_json::write::ObjectWriter;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::limits::{LISTEN_SECONDS, TASK_REQUESTS_SECONDS};
use crate::protocol::revision::Revision;
use crate::protocol::task::EXTENSION;
use crate::server::extension::{ExtensionMethod, ExtensionResult};

#[derive(Deserialize, JsonSchema)]
struct ListenParams {
    notifications: Filter,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Filter {
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

async fn listen(_: ListenParams, cx: Context) -> Result<ExtensionResult, HandlerError> {
    send(&cx, "notifications/subscriptions/acknowledged", ObjectWriter::new().json("notifications", "{}"));
    ExtensionResult::new(&serde_json::Map::new())
}

/// Sends a notification of the subscription, and returns whether it was sent.
fn send(cx: &Context, method: &'static str, params: ObjectWriter) -> bool {
    // The id is copied as text, because a number may exceed every number type.
    let meta = ObjectWriter::new().json("io.modelcontextprotocol/subscriptionId", cx.request_id().as_json()).finish();
    cx.live().is_some_and(|live| live.outbox.extension(method, &params.json("_meta", &meta).finish_raw()))
}
