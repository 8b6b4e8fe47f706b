//! The rounds of a request: the server asks, the client answers and sends the request again.
//!
//! Source: 2026-07-28, basic/patterns/mrtr.

use std::rc::Rc;
use std::time::Duration;

use edge_json::{Document, JsonLimits};
use futures::FutureExt;
use serde_json::value::RawValue;

use super::asked::{ANSWERS, Asked, Question, TOO_MANY_ROUNDS, answers};
use super::step::step;
use super::task;
use crate::client::error::{ClientError, Executed, Failed, Failure};
use crate::client::questions::passed::key_in_round;
use crate::client::session::channel::Channel;
use crate::client::session::outgoing::Outgoing;
use crate::client::session::request::Session;
use crate::client::wire::response::{ResultKind, RoundResult};
use crate::limits::{UPSTREAM_EMPTY_ROUNDS, UPSTREAM_ROUNDS, UPSTREAM_STATE_BYTES};
use crate::protocol::capabilities::ClientCapabilities;

/// The pause before the next round if the server asked no question.
const PAUSE: Duration = Duration::from_millis(250);

/// The parameter with the state of a round.
const STATE: &str = "requestState";

/// The questions of a round.
struct Round {
    questions: Vec<Question>,
    state: Option<String>,
}

/// Sends a request that cannot be a task, answers the questions of the server, and returns the final result.
pub(super) async fn answered(
    session: &Rc<Session>,
    outgoing: Outgoing,
    asked: &Asked,
) -> Result<Box<RawValue>, ClientError> {
    outcome(session, outgoing, asked).boxed_local().await.map(|outcome| outcome.result)
}

/// Sends a request, answers the questions of the server, and returns the final result. If the server answers with a task, the result is that of
/// the task, unless the program gets the task.
async fn outcome(session: &Rc<Session>, mut outgoing: Outgoing, asked: &Asked) -> Result<RoundResult, ClientError> {
    let channel = &*session.channel;
    let capabilities = asked.capabilities(channel.upstream());
    outgoing.capabilities = Some(capabilities);
    let method = outgoing.method.clone();
    let failed = |failed| channel.failed(method.clone(), failed).executed_as(Executed::Unknown);
    let mut empty = 0;
    for round in 1..=UPSTREAM_ROUNDS {
        let mut sent = send_round(session, round, &mut outgoing, asked).await;
        if let Err(error) = &sent {
            match asked.signs_in(channel, error).await {
                Ok(true) => sent = send_round(session, round, &mut outgoing, asked).await,
                Ok(false) => {}
                Err(failed) => sent = Err(channel.failed(method.clone(), failed)),
            }
        }
        let sent = sent.map_err(|error| {
            // In an earlier round, the server may have executed a part of the request.
            let executed = if round > 1 { error.executed().or(Executed::Unknown) } else { error.executed() };
            asked.explained(channel, error.executed_as(executed))
        });
        let RoundResult { kind, result } = sent?;
        match kind {
            ResultKind::Complete => return Ok(RoundResult { kind, result }),
            ResultKind::Task => {
                // Most calls are no tasks, so their futures have no room for one.
                return task::outcome_of_created(session, &outgoing, result, asked).boxed_local().await;
            }
            ResultKind::Asks => {}
        }
        let Round { questions, state } = read_round(channel, round, &result, capabilities, asked).map_err(failed)?;
        let mut params = std::mem::take(&mut outgoing.params).without(&[ANSWERS, STATE]);
        if questions.is_empty() {
            empty = usize::saturating_add(empty, 1);
            if empty > UPSTREAM_EMPTY_ROUNDS {
                break;
            }
            channel.host().sleep(PAUSE).await;
        } else {
            let questions = questions.into_iter().map(|question| (question.key, question.answer)).collect();
            params = params.with(ANSWERS, answers(questions).await.map_err(failed)?);
        }
        if let Some(state) = state {
            params = params.with_text(STATE, &state);
        }
        outgoing.params = params;
    }
    Err(failed(TOO_MANY_ROUNDS.into()))
}

/// Sends a request as [`answered`] does. The result may be a task, if the program gets it. If the rounds are kept, the request is a step of our caller's request: it is not sent again after it
/// has finished.
pub(super) async fn answered_once(
    session: &Rc<Session>,
    outgoing: &Outgoing,
    name: &str,
    asked: &Asked,
) -> Result<RoundResult, ClientError> {
    let outcome = outcome(session, outgoing.clone(), asked);
    if !asked.is_kept {
        return outcome.await;
    }
    let step = format!("{}_{name}", session.channel.server().name);
    self::step(&session.channel, &asked.cx, &step, outgoing, outcome.boxed_local()).await
}

/// Sends the request of one round. If the rounds are kept, a later round of the caller's request does not send it again.
async fn send_round(
    session: &Session,
    round: usize,
    outgoing: &mut Outgoing,
    asked: &Asked,
) -> Result<RoundResult, ClientError> {
    if asked.remembers() {
        let name = format!("round {round} of {}", outgoing.target.as_deref().unwrap_or_default());
        let of_step = outgoing.clone();
        step(&session.channel, &asked.cx, &name, &of_step, session.exchange(outgoing).boxed_local()).await
    } else {
        session.exchange(outgoing).await
    }
}

/// Reads the questions of a round, and prepares their answers. If a question cannot be answered, this fails before any is asked.
fn read_round(
    channel: &Channel,
    round: usize,
    result: &RawValue,
    capabilities: ClientCapabilities,
    asked: &Asked,
) -> Result<Round, Failed> {
    let malformed = |problem| Failed::from(Failure::Malformed(problem));
    let document = Document::parse(result.get().as_bytes(), JsonLimits::MOST)
        .map_err(|_| malformed("has a result that is not JSON"))?;
    let result = document.root();
    let state = match result.get(STATE) {
        None => None,
        Some(state) => Some(state.as_str().ok_or_else(|| malformed("has a `requestState` that is not a string"))?),
    };
    if state.as_ref().is_some_and(|state| state.len() > UPSTREAM_STATE_BYTES) {
        return Err(Failure::LimitExceeded("the request state is too long").into());
    }
    let passed_key = |nth: usize, key: &str| key_in_round(&channel.server().name, round, nth, key);
    let requests = result.get("inputRequests");
    let questions = asked.questions(channel, requests, capabilities, &|_| false, &passed_key)?;
    if questions.is_empty() && state.is_none() {
        return Err(malformed("asks for input without a question and without a `requestState`"));
    }
    Ok(Round { questions, state: state.map(Into::into) })
}
