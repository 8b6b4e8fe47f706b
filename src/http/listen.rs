//! `subscriptions/listen`: an empty stream.
//!
//! A server without state cannot watch for changes. It acknowledges no subscriptions and completes immediately. The specification defines
//! this answer for a server without subscriptions. Clients poll instead, after the time in `ttlMs`. A request with the ids of durable tasks
//! does not get here: it is a method of the tasks extension.
//!
//! Source: 2026-07-28, basic/patterns/subscriptions.

use edge_json::{Document, JsonLimits, Kind, Value, deserialize, write};
use http::Response;
use serde::Serialize;
use serde_json::Map;
use serde_json::value::RawValue;

use super::stream::{self, Body};
use crate::protocol::description::Implementation;
use crate::protocol::error::RpcError;
use crate::protocol::message::{Request, result_response};
use crate::server::builder::McpServer;

/// The `_meta` of both messages. The id is copied as text, because a number may exceed every number type.
#[derive(Clone, Copy, Serialize)]
struct Meta<'a> {
    #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
    subscription_id: &'a RawValue,
    #[serde(rename = "io.modelcontextprotocol/serverInfo", skip_serializing_if = "Option::is_none")]
    server_info: Option<&'a Implementation>,
}

#[derive(Serialize)]
struct Acknowledged<'a> {
    jsonrpc: &'static str,
    method: &'static str,
    params: AcknowledgedParams<'a>,
}

#[derive(Serialize)]
struct AcknowledgedParams<'a> {
    #[serde(rename = "_meta")]
    meta: Meta<'a>,
    notifications: Map<String, serde_json::Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListenResult<'a> {
    result_type: &'static str,
    #[serde(rename = "_meta")]
    meta: Meta<'a>,
}

/// Returns a stream with the acknowledgement and the result.
///
/// # Errors
/// -32602 if `params.notifications` is not an object.
#[inline(never)]
pub(super) fn answer(request: &Request<'_>, server: &McpServer) -> Result<Response<Body>, RpcError> {
    if request.param("notifications").map(Value::kind) != Some(Kind::Object) {
        return Err(RpcError::invalid_params(
            "`params.notifications` is missing or is not an object; it names the notifications to listen for",
        ));
    }
    let document =
        Document::parse(request.id.as_json().as_bytes(), JsonLimits::MOST).map_err(|_| RpcError::internal())?;
    let id = deserialize::read(document.root()).map_err(|_| RpcError::internal())?;
    let subscription = Meta { subscription_id: id, server_info: None };
    let acknowledged = Acknowledged {
        jsonrpc: "2.0",
        method: "notifications/subscriptions/acknowledged",
        params: AcknowledgedParams { meta: subscription, notifications: Map::new() },
    };
    let acknowledged = write::to_vec(&acknowledged).map_err(|_| RpcError::internal())?;
    let meta = Meta { server_info: Some(&server.definitions.info), ..subscription };
    let result = ListenResult { result_type: "complete", meta };
    let result = result_response(&request.id, &result).map_err(|_| RpcError::internal())?;
    Ok(stream::complete(vec![acknowledged, result]))
}
