//! The rounds of a request: the server asks, the client answers and sends the request again.
//!
//! Source: 2026-07-28, basic/patterns/mrtr.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use edge_json::write::{self, ObjectWriter};
use edge_json::{Document, JsonLimits, Kind, Value};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::call::call_path::CallPath;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::client::error::{ClientError, Executed, Failed, Failure};
use crate::client::questions::handlers::{AnswerFuture, undeclared};
use crate::client::questions::passed::Pass;
use crate::client::questions::question::ServerQuestion;
use crate::client::session::channel::Channel;
use crate::client::session::outgoing::Outgoing;
use crate::client::session::request::Session;
use crate::client::upstream::Upstream;
use crate::client::wire::response::RoundResult;
use crate::limits::{
    UPSTREAM_EMPTY_ROUNDS, UPSTREAM_QUESTION_BYTES, UPSTREAM_QUESTIONS, UPSTREAM_ROUNDS, UPSTREAM_STATE_BYTES,
};
use crate::parallel::try_parallel;
use crate::protocol::capabilities::ClientCapabilities;

/// The pause before the next round if the server asked no question.
const PAUSE: Duration = Duration::from_millis(250);

/// The parameters with the answers and with the state of a round.
const ANSWERS: &str = "inputResponses";
const STATE: &str = "requestState";

/// The context and the settings for the questions of a request.
pub(super) struct Asked {
    /// The context of the call. Questions and steps belong to it.
    pub cx: Context,
    /// Passes the questions for which the program has no function on to the caller of this program.
    pub pass: Option<Pass>,
    /// Whether the rounds are remembered while the caller of this program is asked.
    pub is_kept: bool,
}

/// A finished step: the result of the request, or the failure of a request that must not be sent again.
#[derive(Deserialize, Serialize)]
struct Finished {
    result: Option<RoundResult>,
    /// The predicate of a sentence whose subject is the server.
    failure: Option<String>,
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
        if let Ok(cancelled) = write::to_raw_value(&Finished { result: None, failure }) {
            self.cx.rounds().remember_cancelled(self.path.place(), &self.step, cancelled);
        }
    }
}

/// The questions of a round.
struct Round {
    /// The key of each question, and its answer.
    answers: Vec<(String, AnswerFuture)>,
    state: Option<String>,
}

impl Asked {
    /// Creates the settings for a request whose questions only the program answers, in the context of the connection.
    pub(super) fn by_program(cx: &Context) -> Self {
        Self { cx: cx.clone(), pass: None, is_kept: false }
    }

    /// Returns the capabilities to declare to a server, whose questions the program and perhaps the caller of this program answer.
    fn capabilities(&self, upstream: &Upstream) -> ClientCapabilities {
        let own = upstream.handlers.capabilities();
        let caller = if self.pass.is_some() { self.cx.client_capabilities() } else { ClientCapabilities::default() };
        ClientCapabilities {
            elicitation_form: own.elicitation_form || caller.elicitation_form,
            elicitation_url: own.elicitation_url || caller.elicitation_url,
            sampling: own.sampling || (upstream.passes_sampling && caller.sampling),
            ..own
        }
    }
}

/// Sends a request, answers the questions of the server, and returns the final result.
pub(super) async fn answered(
    session: &Session,
    mut outgoing: Outgoing,
    asked: &Asked,
) -> Result<Box<RawValue>, ClientError> {
    let channel = &*session.channel;
    let capabilities = asked.capabilities(channel.upstream());
    outgoing.capabilities = Some(capabilities);
    let method = outgoing.method.clone();
    let failed = |failed| channel.failed(method.clone(), failed).executed_as(Executed::Unknown);
    let mut empty = 0;
    for round in 1..=UPSTREAM_ROUNDS {
        let mut sent = send_round(session, round, &mut outgoing, asked).await;
        if let (Err(error), Some(_)) = (&sent, asked.pass)
            && let Failure::SignInRequired { url } = error.failure()
        {
            match channel.sign_in(url, &asked.cx).await {
                Ok(true) => sent = send_round(session, round, &mut outgoing, asked).await,
                Ok(false) => {}
                Err(failed) => sent = Err(channel.failed(method.clone(), failed)),
            }
        }
        let sent = sent.map_err(|error| {
            // In an earlier round, the server may have executed a part of the request.
            let executed = if round > 1 { error.executed().or(Executed::Unknown) } else { error.executed() };
            explained(channel, error.executed_as(executed), asked)
        });
        let RoundResult { asks, result } = sent?;
        if !asks {
            return Ok(result);
        }
        let Round { answers, state } = read_round(channel, round, &result, capabilities, asked).map_err(failed)?;
        let mut params = std::mem::take(&mut outgoing.params).without(&[ANSWERS, STATE]);
        if answers.is_empty() {
            empty = usize::saturating_add(empty, 1);
            if empty > UPSTREAM_EMPTY_ROUNDS {
                break;
            }
            channel.host().sleep(PAUSE).await;
        } else {
            params = params.with(ANSWERS, answered_questions(answers).await.map_err(failed)?);
        }
        if let Some(state) = state {
            params = params.with_text(STATE, &state);
        }
        outgoing.params = params;
    }
    Err(failed(Failure::LimitExceeded("the server asks questions in too many rounds").into()))
}

/// Sends a request as [`answered`] does. If the rounds are kept, the request is a step of our caller's request: it is not sent again after it
/// has finished.
pub(super) async fn answered_once(
    session: &Session,
    outgoing: &Outgoing,
    name: &str,
    asked: &Asked,
) -> Result<Box<RawValue>, ClientError> {
    let answered = answered(session, outgoing.clone(), asked);
    if !asked.is_kept {
        return answered.await;
    }
    let step = format!("{}_{name}", session.channel.server().name);
    let work = async { Ok(RoundResult { asks: false, result: answered.await? }) };
    Ok(self::step(&session.channel, &asked.cx, &step, outgoing, work.boxed_local()).await?.result)
}

/// Explains in the error why the caller of this program was not asked.
fn explained(channel: &Channel, error: ClientError, asked: &Asked) -> ClientError {
    let is_for_caller = asked.pass.is_some() && *error.failure() == Failure::CapabilityRequired;
    if !is_for_caller {
        return error;
    }
    let problem = "needs to ask a person, but the caller of this program cannot be asked. A client of revision 2026-07-28 that \
                   supports elicitation can be asked.";
    ClientError::new(&channel.server().name, error.method().clone(), Failure::Local(problem.into()))
        .executed_as(error.executed())
}

/// Sends the request of one round. If the rounds are kept, a later round of the caller's request does not send it again.
async fn send_round(
    session: &Session,
    round: usize,
    outgoing: &mut Outgoing,
    asked: &Asked,
) -> Result<RoundResult, ClientError> {
    if asked.is_kept && asked.cx.has_rounds() {
        let name = format!("round {round} of {}", outgoing.target.as_deref().unwrap_or_default());
        let of_step = outgoing.clone();
        step(&session.channel, &asked.cx, &name, &of_step, session.exchange(outgoing).boxed_local()).await
    } else {
        session.exchange(outgoing).await
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
            Ok(result) => return Ok(Finished { result: Some(result), failure: None }),
            Err(error) => error,
        };
        let failure = error.failure().to_string();
        let is_final = !outgoing.is_repeatable && error.executed() != Executed::No;
        let shown = HandlerError::new(error.to_string());
        failed.set(Some(error));
        if is_final { Ok(Finished { result: None, failure: Some(failure) }) } else { Err(shown) }
    });
    match step.await {
        Ok(Finished { result: Some(result), .. }) => Ok(result),
        Ok(Finished { failure, .. }) => Err(failed.take().unwrap_or_else(|| {
            error(Failure::Earlier(failure.unwrap_or_default()), None).executed_as(Executed::Unknown)
        })),
        Err(other) => Err(failed
            .take()
            .unwrap_or_else(|| error(Failure::Local(other.message().to_owned()), other.0.cause.clone()))),
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
    let exceeded = |limit| Failed::from(Failure::LimitExceeded(limit));
    let document = Document::parse(result.get().as_bytes(), JsonLimits::MOST)
        .map_err(|_| malformed("has a result that is not JSON"))?;
    let result = document.root();
    let state = match result.get(STATE) {
        None => None,
        Some(state) => Some(state.as_str().ok_or_else(|| malformed("has a `requestState` that is not a string"))?),
    };
    if state.as_ref().is_some_and(|state| state.len() > UPSTREAM_STATE_BYTES) {
        return Err(exceeded("the request state is too long"));
    }
    let requests = result.get("inputRequests");
    if requests.is_some_and(|requests| requests.kind() != Kind::Object) {
        return Err(malformed("has `inputRequests` that are not an object"));
    }
    let mut answers = Vec::new();
    for (key, request) in requests.into_iter().flat_map(Value::members) {
        if answers.len() >= UPSTREAM_QUESTIONS {
            return Err(exceeded("the server asks too many questions at once"));
        }
        if key.len().saturating_add(request.text().len()) > UPSTREAM_QUESTION_BYTES {
            return Err(exceeded("a question is too long"));
        }
        let method = request.string("method").ok_or_else(|| malformed("asks without a method"))?;
        let question = ServerQuestion::of(&channel.server().name, &method, request.get("params"));
        let question = question?.ok_or(Failure::CapabilityRequired)?;
        let answer = match (channel.upstream().handlers.answer(&question, &asked.cx)?, asked.pass) {
            (Some(answer), _) => answer,
            (None, Some(pass)) if question.is_declared(capabilities) => {
                pass(&question, round, answers.len(), &key, &asked.cx)?
            }
            _ => return Err(undeclared()),
        };
        answers.push((key.into_owned(), answer));
    }
    if answers.is_empty() && state.is_none() {
        return Err(malformed("asks for input without a question and without a `requestState`"));
    }
    Ok(Round { answers, state: state.map(Into::into) })
}

/// Waits for the answers of a round at the same time. Returns them as a JSON object.
async fn answered_questions(answers: Vec<(String, AnswerFuture)>) -> Result<Box<RawValue>, Failed> {
    let (keys, answers): (Vec<_>, Vec<_>) = answers.into_iter().unzip();
    let answers = try_parallel(answers.into_iter()).await?;
    let answered = keys.iter().zip(answers);
    Ok(answered.fold(ObjectWriter::new(), |object, (key, answer)| object.json(key, answer.get())).finish_raw())
}
