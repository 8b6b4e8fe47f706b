//! A request as a step of our caller's request: it is not sent again in a later round after it has finished.

use std::cell::Cell;
use std::rc::Rc;

use edge_json::write;
use futures::future::LocalBoxFuture;
use serde::{Deserialize, Serialize};

use crate::call::call_path::CallPath;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Delivery, Failure};
use crate::client::remote_task::RemoteTask;
use crate::client::session::remote_request::{RemoteRequest, RequestAttempts};
use crate::client::wire::response::RoundResult;

/// A finished step: the result of the request, or the failure of a request that must not be sent again.
#[derive(Deserialize, Serialize)]
struct StepOutcome {
    result: Option<RoundResult>,
    /// The predicate of a sentence whose subject is the server.
    failure: Option<String>,
    /// The task with which the server continues the request.
    task: Option<RemoteTask>,
}

/// A request that may have effects. If it is dropped before its answer has arrived, later rounds do not send it again.
struct StepInFlight {
    cx: Context,
    path: Rc<CallPath>,
    step: String,
    attempts: Rc<RequestAttempts>,
}

impl Drop for StepInFlight {
    fn drop(&mut self) {
        if !self.attempts.is_in_flight.get() {
            return;
        }
        let failure = Some("did not answer before the call was cancelled.".to_owned());
        // A string always serializes.
        if let Ok(cancelled) = write::to_raw_value(&StepOutcome { result: None, failure, task: None }) {
            self.cx.rounds().remember_cancelled(self.path.place(), &self.step, cancelled);
        }
    }
}

/// Runs `work` as a step of our caller's request. In a later round, a request that failed or was cancelled is sent again only if it may
/// be repeated, or if the server did not execute it.
pub(super) async fn step(
    conversation: &Conversation,
    cx: &Context,
    name: &str,
    request: &RemoteRequest,
    work: LocalBoxFuture<'_, Result<RoundResult, ClientError>>,
) -> Result<RoundResult, ClientError> {
    // A step fails with the error of a handler. The error of the client is kept beside it.
    let failed = Cell::new(None);
    let step = cx.step(name, &(), async || {
        let _unanswered = (!request.is_repeatable).then(|| StepInFlight {
            cx: cx.clone(),
            path: cx.path(),
            step: name.to_owned(),
            attempts: request.attempts.clone(),
        });
        let error = match work.await {
            Ok(result) => return Ok(StepOutcome { result: Some(result), failure: None, task: None }),
            Err(error) => conversation.error_of(request.method.clone())(error),
        };
        let (failure, task) = match error.failure() {
            Failure::StillRunning(task) => (None, Some(task.clone())),
            failure => (Some(failure.to_string()), None),
        };
        let is_final = !request.is_repeatable && error.delivery() != Delivery::NotExecuted;
        let problem = HandlerError::new(error.to_string());
        failed.set(Some(error));
        if is_final { Ok(StepOutcome { result: None, failure, task }) } else { Err(problem) }
    });
    let step = step.await;
    let error = match step {
        Ok(StepOutcome { result: Some(result), .. }) => return Ok(result),
        Ok(StepOutcome { failure, task, .. }) => failed.take().unwrap_or_else(|| {
            // A handler that continues the task does so in each round.
            let failure = task.map_or(Failure::Earlier(failure.unwrap_or_default()), Failure::StillRunning);
            ClientError::from(failure).delivered_as(Delivery::Unknown)
        }),
        Err(error) => failed
            .take()
            .unwrap_or_else(|| ClientError::new(Failure::Local(error.message().to_owned()), error.0.cause.clone())),
    };
    Err(conversation.error_of(request.method.clone())(error))
}
