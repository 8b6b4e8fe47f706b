//! `initialize`, `ping` and `logging/setLevel`, which clients up to 2025-11-25 use.
//!
//! The server stores nothing from the handshake. It answers later requests with or without a handshake.
//!
//! Source: 2025-11-25, basic/lifecycle.

use serde::Serialize;

use super::call::{MethodCall, MethodResponse};
use super::discover::capabilities;
use super::{envelope, params};
use crate::protocol::capabilities::ServerCapabilities;
use crate::protocol::description::Implementation;
use crate::protocol::error::RpcError;
use crate::protocol::log_level::LogLevel;
use crate::protocol::message::Request;
use crate::protocol::meta;
use crate::protocol::revision::{Era, Revision};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InitializeResult<'a> {
    protocol_version: &'static str,
    capabilities: ServerCapabilities,
    server_info: &'a Implementation,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
}

/// Answers `initialize`. If the requested revision is a legacy one, the result has this revision. Otherwise, it has the newest legacy
/// revision.
pub(super) fn initialize(call: &MethodCall, request: &Request<'_>) -> MethodResponse {
    let requested = params::string(request, "protocolVersion")?;
    params::optional_object(request, "capabilities")?;
    let client = params::optional_object(request, "clientInfo")?;
    if client.is_some_and(|client| meta::read_client(client).is_none()) {
        return Err(RpcError::invalid_params("`params.clientInfo` must have the strings `name` and `version`"));
    }
    let agreed = Revision::named(&requested).filter(|revision| revision.era() == Era::Legacy);
    envelope::complete(
        call,
        InitializeResult {
            protocol_version: agreed.unwrap_or(Revision::NEWEST_LEGACY).name(),
            capabilities: capabilities(&call.server),
            server_info: &call.server.definitions.info,
            instructions: call.server.definitions.instructions.as_deref(),
        },
    )
}

#[derive(Serialize)]
struct Empty {}

/// Answers `ping` with `{}`.
pub(super) fn ping(call: &MethodCall, _: &Request<'_>) -> MethodResponse {
    envelope::complete(call, Empty {})
}

/// Answers `logging/setLevel`. Clients call this method if the server declares log messages. The function checks the level but does not
/// store it: the level that the server declares applies.
pub(super) fn set_log_level(call: &MethodCall, request: &Request<'_>) -> MethodResponse {
    let level = params::string(request, "level")?;
    if LogLevel::named(&level).is_none() {
        return Err(RpcError::invalid_params(format!("`params.level` must be one of {}", LogLevel::names())));
    }
    envelope::complete(call, Empty {})
}
