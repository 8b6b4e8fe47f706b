//! `subscriptions/listen`: an empty stream.
//!
//! A server without state cannot watch for changes. It acknowledges no subscriptions and completes immediately. The specification defines
//! this answer for a server without subscriptions. Clients poll instead, after the time in `ttlMs`. A request with the ids of durable tasks
//! does not get here: it is a method of the tasks extension.
//!
//! Source: 2026-07-28, basic/patterns/subscriptions.

use edge_json::{Kind, Value};

use super::call::{MethodCall, MethodResponse};
use super::envelope;
use crate::protocol::error::RpcError;
use crate::protocol::message::Request;

/// Sends the acknowledgement of no subscriptions, and returns the result, which ends the stream.
///
/// # Errors
/// -32602 if `params.notifications` is not an object.
pub(super) fn listen(call: &MethodCall, request: &Request<'_>) -> MethodResponse {
    if request.param("notifications").map(Value::kind) != Some(Kind::Object) {
        return Err(RpcError::invalid_params(
            "`params.notifications` is missing or is not an object; it names the notifications to listen for",
        ));
    }
    if let Some(live) = call.cx.live() {
        let (id, method) = (call.cx.request_id(), "notifications/subscriptions/acknowledged");
        live.send_of_subscription(id, method, "{\"notifications\":{}}");
    }
    envelope::complete(call, edge_json::object(Vec::new()))
}
