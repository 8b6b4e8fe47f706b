//! `server/discover`: the capabilities of a server, without a handshake.
//!
//! Source: 2026-07-28, server/discover.

use serde::Serialize;

use super::call::{MethodCall, MethodResponse};
use super::envelope;
use crate::protocol::capabilities::{EmptyObject, ServerCapabilities};
use crate::protocol::message::Request;
use crate::protocol::revision::{Era, Revision};
use crate::protocol::task;
use crate::server::builder::McpServer;
use crate::server::cache::Cacheable;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DiscoverResult<'a> {
    supported_versions: Vec<&'static str>,
    capabilities: ServerCapabilities,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
}

/// Answers `server/discover`. The result lists only modern revisions. Otherwise, a client could choose an older revision and name it in
/// `_meta`, which older revisions do not read.
pub(super) fn discover(call: &MethodCall, _: &Request<'_>) -> MethodResponse {
    let mut capabilities = capabilities(&call.server);
    if call.server.offers_tasks() {
        // Legacy revisions do not have this extension.
        capabilities.extensions.insert(task::EXTENSION.to_owned(), edge_json::object(Vec::new()));
    }
    envelope::complete_cacheable(
        call,
        DiscoverResult {
            supported_versions: Revision::names_of(Era::Modern),
            capabilities,
            instructions: call.server.definitions.instructions.as_deref(),
        },
        call.server.definitions.cache_of(Cacheable::Discover),
    )
}

/// Returns the capabilities of `server`.
pub(super) fn capabilities(server: &McpServer) -> ServerCapabilities {
    ServerCapabilities {
        tools: server.offers_tools().then_some(EmptyObject {}),
        resources: server.offers_resources().then_some(EmptyObject {}),
        prompts: server.offers_prompts().then_some(EmptyObject {}),
        logging: server.definitions.logging.is_some().then_some(EmptyObject {}),
        extensions: server.definitions.extensions.clone(),
        completions: server.offers_completions().then_some(EmptyObject {}),
    }
}
