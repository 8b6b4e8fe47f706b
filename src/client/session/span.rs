//! The span of a request to a server.

use super::channel::Channel;
use super::outgoing::Outgoing;
use crate::call::trace::{NewOperation, Recording};
use crate::client::error::{Failed, Failure};
use crate::client::wire::response::ServerResponse;
use crate::host::{Outcome, target_attribute};
use crate::protocol::revision::Revision;

/// Starts the span of a request, if the program has telemetry.
pub(super) fn start(channel: &Channel, outgoing: &Outgoing, revision: Revision) -> Option<Box<Recording>> {
    let work = NewOperation {
        upstream: Some(&channel.server().name),
        method: &outgoing.method,
        target: outgoing.target.as_deref().filter(|_| target_attribute(&outgoing.method).is_some()),
        revision: revision.name(),
    };
    channel.cx().trace()?.start_within(&work, channel.host())
}

/// Ends the span of a request, if it has one.
pub(super) fn end(span: Option<Box<Recording>>, answer: &Result<&ServerResponse, &Failed>) {
    if let Some(span) = span {
        span.end(outcome(answer));
    }
}

fn outcome(answer: &Result<&ServerResponse, &Failed>) -> Outcome {
    match answer {
        Ok(ServerResponse::Rpc { outcome: Ok(result), .. }) if result.is_error => Outcome::failed("tool_error"),
        Ok(ServerResponse::Rpc { outcome: Ok(_), .. }) => Outcome::default(),
        Ok(ServerResponse::Rpc { outcome: Err(error), .. }) => Outcome::error(error.code),
        Ok(ServerResponse::Http { status, .. }) => Outcome::failed(status.to_string()),
        Err(failed) => Outcome::failed(match failed.failure() {
            Failure::Timeout(_) => "timeout",
            Failure::Interrupted => "interrupted",
            Failure::Unreachable(_) => "unreachable",
            Failure::Malformed(_) => "malformed",
            Failure::LimitExceeded(_) | Failure::BudgetExhausted => "limit_exceeded",
            _ => "_OTHER",
        }),
    }
}
