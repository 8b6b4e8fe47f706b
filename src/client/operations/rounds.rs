//! The rounds of a request: the server asks, the client answers and sends the request again.
//!
//! Source: 2026-07-28, basic/patterns/mrtr.

use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use serde_json::value::RawValue;

use super::respondent::{ANSWERS, QuestionAnswer, Respondent, TOO_MANY_ROUNDS, answers};
use super::step::step;
use super::task;
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Delivery, Failure};
use crate::client::questions::passed::key_in_round;
use crate::client::session::remote_request::RemoteRequest;
use crate::client::wire::response::{ResultKind, RoundResult, parsed};
use crate::limits::{UPSTREAM_EMPTY_ROUNDS, UPSTREAM_ROUNDS, UPSTREAM_STATE_BYTES};
use crate::protocol::capabilities::ClientCapabilities;

/// The pause before the next round if the server asked no question.
const PAUSE: Duration = Duration::from_millis(250);

/// The parameter with the state of a round.
const STATE: &str = "requestState";

struct Round {
    questions: Vec<QuestionAnswer>,
    state: Option<String>,
}

/// Sends a request that cannot be a task, answers the questions of the server, and returns the final result.
pub(super) async fn result(
    conversation: &Rc<Conversation>,
    request: RemoteRequest,
    respondent: &Respondent,
) -> Result<Box<RawValue>, ClientError> {
    complete(conversation, request, respondent).boxed_local().await.map(|complete| complete.result)
}

/// Sends a request, answers the questions of the server, and returns the final result. If the server answers with a task, the result is that of
/// the task, unless the program gets the task. If the rounds are kept, the request is a step of our caller's request: it is not sent again
/// after it has finished.
pub(super) async fn complete_step(
    conversation: &Rc<Conversation>,
    request: RemoteRequest,
    name: &str,
    respondent: &Respondent,
) -> Result<RoundResult, ClientError> {
    let work = complete(conversation, request.clone(), respondent);
    if !respondent.is_kept {
        return work.await;
    }
    let name = format!("{}_{name}", conversation.server.name);
    step(conversation, &respondent.cx, &name, &request, work.boxed_local()).await
}

async fn complete(
    conversation: &Rc<Conversation>,
    mut request: RemoteRequest,
    respondent: &Respondent,
) -> Result<RoundResult, ClientError> {
    let capabilities = respondent.capabilities(conversation);
    request.capabilities = Some(capabilities);
    let method = request.method.clone();
    let failed = |error: ClientError| conversation.error_of(method.clone())(error).delivered_as(Delivery::Unknown);
    let mut empty = 0;
    for number in 1..=UPSTREAM_ROUNDS {
        let mut answer = round(conversation, number, &request, respondent).await;
        if let Err(error) = &answer {
            match respondent.signs_in(conversation, error).await {
                Ok(true) => answer = round(conversation, number, &request, respondent).await,
                Ok(false) => {}
                Err(error) => answer = Err(error),
            }
        }
        let RoundResult { kind, result } = answer.map_err(|error| {
            // In an earlier round, the server may have executed a part of the request.
            let delivery = if number > 1 { error.delivery().or(Delivery::Unknown) } else { error.delivery() };
            respondent.explained(conversation.error_of(method.clone())(error)).delivered_as(delivery)
        })?;
        match kind {
            ResultKind::Complete => return Ok(RoundResult { kind, result }),
            ResultKind::Task => {
                // Most calls are no tasks, so their futures have no room for one.
                return task::result_or_task(conversation, &request, result, respondent).boxed_local().await;
            }
            ResultKind::Asks => {}
        }
        let Round { questions, state } =
            read_round(conversation, number, &result, capabilities, respondent).map_err(failed)?;
        request.params = request.params.without(&[ANSWERS, STATE]);
        if questions.is_empty() {
            empty = usize::saturating_add(empty, 1);
            if empty > UPSTREAM_EMPTY_ROUNDS {
                break;
            }
            conversation.cx.host().sleep(PAUSE).await;
        } else {
            let questions = questions.into_iter().map(|question| (question.key, question.answer)).collect();
            request.params = request.params.with(ANSWERS, answers(questions).await.map_err(failed)?);
        }
        if let Some(state) = state {
            request.params = request.params.with_text(STATE, &state);
        }
    }
    Err(failed(TOO_MANY_ROUNDS.into()))
}

/// Sends the request of one round. If the rounds are kept, a later round of the caller's request does not send it again.
async fn round(
    conversation: &Rc<Conversation>,
    number: usize,
    request: &RemoteRequest,
    respondent: &Respondent,
) -> Result<RoundResult, ClientError> {
    if !respondent.remembers() {
        return conversation.send(request).await;
    }
    let name = format!("round {number} of {}", request.target.as_deref().unwrap_or_default());
    step(conversation, &respondent.cx, &name, request, conversation.send(request).boxed_local()).await
}

/// Reads the questions of a round, and prepares their answers. If a question cannot be answered, this fails before any is asked.
fn read_round(
    conversation: &Conversation,
    number: usize,
    result: &RawValue,
    capabilities: ClientCapabilities,
    respondent: &Respondent,
) -> Result<Round, ClientError> {
    let document = parsed(result)?;
    let result = document.root();
    let state = match result.get(STATE) {
        None => None,
        Some(state) => Some(state.as_str().ok_or(Failure::Malformed("has a `requestState` that is not a string"))?),
    };
    if state.as_ref().is_some_and(|state| state.len() > UPSTREAM_STATE_BYTES) {
        return Err(Failure::LimitExceeded("the request state is too long").into());
    }
    let passed_key = |nth: usize, key: &str| key_in_round(&conversation.server.name, number, nth, key);
    let requests = result.get("inputRequests");
    let questions = respondent.questions(conversation, requests, capabilities, &|_| false, &passed_key)?;
    if questions.is_empty() && state.is_none() {
        return Err(Failure::Malformed("asks for input without a question and without a `requestState`").into());
    }
    Ok(Round { questions, state: state.map(Into::into) })
}
