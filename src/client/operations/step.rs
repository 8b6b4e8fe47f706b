//! A request as a step of our caller's request: it is not sent again in a later round after it has finished.

use std::cell::Cell;
use std::rc::Rc;

use edge_json::write;
use futures::future::LocalBoxFuture;
use serde::{Deserialize, Serialize};

use crate::call::call_path::CallPath;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::client::error::{ClientError, Executed, Failed, Failure};
use crate::client::remote_task::RemoteTask;
use crate::client::session::channel::Channel;
use crate::client::session::outgoing::Outgoing;
use crate::client::wire::response::RoundResult;

/// A finished step: the result of the request, or the failure of a request that must not be sent again.
#[derive(Deserialize, Serialize)]
struct Finished {
    result: Option<RoundResult>,
    /// The predicate of a sentence whose subject is the server.
    failure: Option<String>,
    /// The task with which the server continues the request.
    task: Option<RemoteTask>,
}

/// A request that may have effects. If it is dropped before its answer has arrived, later rounds do not send it again.
struct Unanswered {
    cx: Context,
    path: Rc<CallPath>,
    step: String,
    is_in_flight: Rc<Cell<bool>>,
}

impl Drop for Unanswered {
    fn drop(&mut self) {
        if !self.is_in_flight.get() {
            return;
        }
        let failure = Some("did not answer before the call was cancelled.".to_owned());
        // A string always serializes.
        if let Ok(cancelled) = write::to_raw_value(&Finished { result: None, failure, task: None }) {
            self.cx.rounds().remember_cancelled(self.path.place(), &self.step, cancelled);
        }
    }
}

/// Runs `work` as a step of our caller's request. In a later round, a request that failed or was cancelled is sent again only if it may
/// be repeated, or if the server did not execute it.
pub(in crate::client) async fn step(
    channel: &Channel,
    cx: &Context,
    name: &str,
    outgoing: &Outgoing,
    work: LocalBoxFuture<'_, Result<RoundResult, ClientError>>,
) -> Result<RoundResult, ClientError> {
    let error = |failure, cause| channel.failed(outgoing.method.clone(), Failed::new(failure, cause));
    // A step fails with the error of a handler. The error of the client is kept beside it.
    let failed = Cell::new(None);
    let step = cx.step(name, &(), async || {
        let is_in_flight = outgoing.is_in_flight.clone();
        let _unanswered = (!outgoing.is_repeatable).then(|| Unanswered {
            cx: cx.clone(),
            path: cx.path(),
            step: name.to_owned(),
            is_in_flight,
        });
        let error = match work.await {
            Ok(result) => return Ok(Finished { result: Some(result), failure: None, task: None }),
            Err(error) => error,
        };
        let (failure, task) = match error.failure() {
            Failure::StillRunning(task) => (None, Some(task.clone())),
            failure => (Some(failure.to_string()), None),
        };
        let is_final = !outgoing.is_repeatable && error.executed() != Executed::No;
        let shown = HandlerError::new(error.to_string());
        failed.set(Some(error));
        if is_final { Ok(Finished { result: None, failure, task }) } else { Err(shown) }
    });
    match step.await {
        Ok(Finished { result: Some(result), .. }) => Ok(result),
        Ok(Finished { failure, task, .. }) => Err(failed.take().unwrap_or_else(|| {
            // A handler that continues the task does so in each round.
            let failure = task.map_or(Failure::Earlier(failure.unwrap_or_default()), Failure::StillRunning);
            error(failure, None).executed_as(Executed::Unknown)
        })),
        Err(other) => Err(failed
            .take()
            .unwrap_or_else(|| error(Failure::Local(other.message().to_owned()), other.0.cause.clone()))),
    }
}
