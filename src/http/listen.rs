//! `subscriptions/listen`: a stream of changes, of which there are none to tell.
//!
//! A server that keeps nothing can watch nothing. It acknowledges the empty part of what was asked for, and completes at
//! once, as the specification has it for a server that honours none of it; `ttlMs` says when to look again instead.
//!
//! Source: 2026-07-28, basic/patterns/subscriptions.

use http::Response;
use serde_json::{Map, json};

use super::stream::{self, Body};
use crate::protocol::error::RpcError;
use crate::protocol::json::{Kind, Value};
use crate::protocol::message::{Request, error_response, result_response};
use crate::protocol::meta::SERVER_INFO;
use crate::server::McpServer;

/// The method that this file is about.
pub(super) const METHOD: &str = "subscriptions/listen";

/// Answers it: the acknowledgement and the result, as a stream that is whole; or an error.
pub(super) fn answer(request: &Request<'_>, server: &McpServer) -> Result<Response<Body>, RpcError> {
    if request.param("notifications").map(Value::kind) != Some(Kind::Object) {
        return Err(RpcError::invalid_params(
            "`params.notifications` is missing or no object; it says what to listen for",
        ));
    }
    // An id was read as JSON once.
    let id: serde_json::Value = serde_json::from_str(request.id.as_json()).unwrap_or_default();
    let subscription = Map::from_iter([("io.modelcontextprotocol/subscriptionId".to_owned(), id)]);
    let acknowledged = json!({
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": { "_meta": subscription, "notifications": {} },
    });
    let mut meta = subscription;
    meta.insert(SERVER_INFO.to_owned(), json!(server.info));
    let result = json!({ "resultType": "complete", "_meta": meta });
    let result = result_response(&request.id, &result);
    let result = result.unwrap_or_else(|_| error_response(Some(&request.id), &RpcError::internal()));
    Ok(stream::whole(&[acknowledged.to_string().into_bytes(), result]))
}
