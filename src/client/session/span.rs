//! The span of a request to a server.

use edge_json::{Document, JsonLimits};

use super::channel::Channel;
use super::outgoing::Outgoing;
use crate::call::trace::{NewOperation, Recording};
use crate::client::error::{Failed, Failure};
use crate::client::wire::response::ServerResponse;
use crate::host::Outcome;
use crate::protocol::method::Method;
use crate::protocol::revision::Revision;

/// The methods whose target is a name. The target of other methods may be a URI, which a span does not contain.
const NAMED: [Method; 2] = [Method::CallTool, Method::GetPrompt];

/// Starts the span of a request, if the program has telemetry.
pub(super) fn start(channel: &Channel, outgoing: &Outgoing, revision: Revision) -> Option<Box<Recording>> {
    let is_named = NAMED.iter().any(|method| outgoing.method == method.name());
    let work = NewOperation {
        upstream: Some(&channel.server().name),
        method: &outgoing.method,
        target: outgoing.target.as_deref().filter(|_| is_named),
        revision: revision.name(),
    };
    channel.cx().trace()?.start_within(&work, channel.host())
}

/// Returns the outcome of a request.
pub(super) fn outcome(answer: &Result<ServerResponse, Failed>) -> Outcome {
    match answer {
        Ok(ServerResponse::Rpc { outcome: Ok(result), .. }) if is_tool_error(result.json.get()) => {
            Outcome::failed("tool_error")
        }
        Ok(ServerResponse::Rpc { outcome: Ok(_), .. }) => Outcome::default(),
        Ok(ServerResponse::Rpc { outcome: Err(error), .. }) => Outcome::error(error.code),
        Ok(ServerResponse::Http { status, .. }) => Outcome::failed(status.to_string()),
        Err(failed) => Outcome::failed(match failed.failure() {
            Failure::Timeout(_) => "timeout",
            Failure::Interrupted => "interrupted",
            Failure::Unreachable(_) => "unreachable",
            Failure::Malformed(_) => "malformed",
            Failure::LimitExceeded(_) => "limit_exceeded",
            _ => "_OTHER",
        }),
    }
}

/// Returns whether a result has `isError`.
fn is_tool_error(result: &str) -> bool {
    let document = Document::parse(result.as_bytes(), JsonLimits::MOST).ok();
    document.and_then(|document| Some(document.root().get("isError")?.text() == "true")).unwrap_or(false)
}
