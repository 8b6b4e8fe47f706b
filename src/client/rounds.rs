//! The rounds of a request: the server asks, the client answers and sends the request again.
//!
//! Source: 2026-07-28, basic/patterns/mrtr.

use std::cell::Cell;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::value::RawValue;

use super::answer::undeclared;
use super::connection::Link;
use super::error::{ClientError, Executed, Failed, Failure};
use super::question::{Question, UrlElicitation};
use super::request::Outgoing;
use super::response::Reply;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::host::{host_of, origin_of};
use crate::json::{Document, JsonLimits, Kind, Value, write};
use crate::limits::{
    UPSTREAM_EMPTY_ROUNDS, UPSTREAM_QUESTION_BYTES, UPSTREAM_QUESTIONS, UPSTREAM_ROUNDS, UPSTREAM_STATE_BYTES,
};
use crate::parallel::try_parallel;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::method::Method;

/// The pause before the next round if the server asked no question.
const PAUSE: Duration = Duration::from_millis(250);
/// The longest key of a server that the key of a passed question contains, in bytes.
const KEY: usize = 64;

/// The parameters with the answers and with the state of a round.
const ANSWERS: &str = "inputResponses";
const STATE: &str = "requestState";

/// The context and the settings for the questions of a request.
pub(super) struct Asked {
    /// The context of the call. Questions and steps belong to it.
    pub cx: Context,
    /// Whether the caller of this program answers the questions for which the program has no function.
    pub is_passed: bool,
    /// Whether the rounds are remembered while the caller of this program is asked.
    pub is_kept: bool,
}

/// The questions of a round.
struct Round {
    questions: Vec<(String, Question)>,
    state: Option<String>,
}

impl Asked {
    /// Creates the settings for a request whose questions only the program answers, in the context of the connection.
    pub(super) fn by_program(link: &Link) -> Self {
        Self { cx: link.cx().clone(), is_passed: false, is_kept: false }
    }

    /// Returns the capabilities to declare.
    fn capabilities(&self, own: ClientCapabilities) -> ClientCapabilities {
        let caller = if self.is_passed { self.cx.client_capabilities() } else { ClientCapabilities::default() };
        ClientCapabilities {
            elicitation_form: own.elicitation_form || caller.elicitation_form,
            elicitation_url: own.elicitation_url || caller.elicitation_url,
            ..own
        }
    }
}

impl Link {
    /// Sends a request, answers the questions of the server, and returns the final result.
    pub(super) async fn answered(&self, mut outgoing: Outgoing, asked: &Asked) -> Result<Box<RawValue>, ClientError> {
        let capabilities = asked.capabilities(self.upstream().handlers.capabilities());
        outgoing.capabilities = Some(capabilities);
        let failed = |failed| self.failed(outgoing.method, failed).executed_as(Executed::Unknown);
        let mut empty = 0;
        for round in 1..=UPSTREAM_ROUNDS {
            let reply = self.round(round, &outgoing, asked).await;
            let Reply { asks, result } = reply.map_err(|error| self.explained(error, asked))?;
            if !asks {
                return Ok(result);
            }
            let Round { questions, state } = self.read_round(&result).map_err(|failure| failed((failure, None)))?;
            let mut params = std::mem::take(&mut outgoing.params).without(&[ANSWERS, STATE]);
            if questions.is_empty() {
                empty = usize::saturating_add(empty, 1);
                if empty > UPSTREAM_EMPTY_ROUNDS {
                    break;
                }
                self.host().sleep(PAUSE).await;
            } else {
                let answers = self.answers(round, questions, capabilities, asked).await.map_err(failed)?;
                params = params.with(ANSWERS, answers);
            }
            if let Some(state) = state {
                params = params.with_text(STATE, &state);
            }
            outgoing.params = params;
        }
        Err(failed((Failure::LimitExceeded("the server asks questions in too many rounds"), None)))
    }

    /// Explains in the error why the caller of this program was not asked.
    fn explained(&self, error: ClientError, asked: &Asked) -> ClientError {
        let is_for_caller = asked.is_passed && *error.failure() == Failure::CapabilityRequired;
        if !is_for_caller {
            return error;
        }
        let problem = "needs to ask a person, but the caller of this program cannot be asked. A client of revision 2026-07-28 that \
                       supports elicitation can be asked.";
        ClientError::new(&self.server().name, error.method(), Failure::Local(problem.into()))
    }

    /// Sends the request of one round. If the rounds are kept, a later round of the caller's request does not send it again.
    async fn round(&self, round: usize, outgoing: &Outgoing, asked: &Asked) -> Result<Reply, ClientError> {
        if asked.is_kept && asked.cx.has_rounds() {
            let name = format!("round {round} of {}", outgoing.target.as_deref().unwrap_or_default());
            self.step(&asked.cx, &name, outgoing.method, self.exchange(outgoing).boxed_local()).await
        } else {
            self.exchange(outgoing).await
        }
    }

    /// Runs `work` as a step of our caller's request.
    pub(super) async fn step(
        &self,
        cx: &Context,
        name: &str,
        method: Method,
        work: LocalBoxFuture<'_, Result<Reply, ClientError>>,
    ) -> Result<Reply, ClientError> {
        // A step fails with the error of a handler. The error of the client is kept beside it.
        let failed = Cell::new(None);
        let step = cx.step(name, &(), async || {
            work.await.map_err(|error| {
                let shown = HandlerError::new(error.to_string());
                failed.set(Some(error));
                shown
            })
        });
        step.await.map_err(|error| {
            let other = || self.failed(method, (Failure::Local(error.message().to_owned()), error.0.cause.clone()));
            failed.take().unwrap_or_else(other)
        })
    }

    fn read_round(&self, result: &RawValue) -> Result<Round, Failure> {
        const NOT_JSON: Failure = Failure::Malformed("has a result that is not JSON");
        let document = Document::parse(result.get().as_bytes(), JsonLimits::MOST).map_err(|_| NOT_JSON)?;
        let result = document.root();
        let state = match result.get(STATE) {
            None => None,
            Some(state) => Some(state.as_str().ok_or(Failure::Malformed("has a `requestState` that is not a string"))?),
        };
        if state.as_ref().is_some_and(|state| state.len() > UPSTREAM_STATE_BYTES) {
            return Err(Failure::LimitExceeded("the request state is too long"));
        }
        let requests = result.get("inputRequests");
        if requests.is_some_and(|requests| requests.kind() != Kind::Object) {
            return Err(Failure::Malformed("has `inputRequests` that are not an object"));
        }
        let mut questions = Vec::new();
        for (key, request) in requests.into_iter().flat_map(Value::members) {
            if questions.len() >= UPSTREAM_QUESTIONS {
                return Err(Failure::LimitExceeded("the server asks too many questions at once"));
            }
            if key.len().saturating_add(request.text().len()) > UPSTREAM_QUESTION_BYTES {
                return Err(Failure::LimitExceeded("a question is too long"));
            }
            let method = request.string("method").ok_or(Failure::Malformed("asks without a method"))?;
            let question = Question::read(&self.server().name, &method, request.get("params"))?;
            questions.push((key.into_owned(), question.ok_or(Failure::CapabilityRequired)?));
        }
        if questions.is_empty() && state.is_none() {
            return Err(Failure::Malformed("asks for input without a question and without a `requestState`"));
        }
        Ok(Round { questions, state: state.map(Into::into) })
    }

    /// Answers the questions of a round at the same time. Returns the answers as a JSON object.
    async fn answers(
        &self,
        round: usize,
        questions: Vec<(String, Question)>,
        capabilities: ClientCapabilities,
        asked: &Asked,
    ) -> Result<Box<RawValue>, Failed> {
        // If one question cannot be answered, the person is not asked any of the others.
        if questions.iter().any(|(_, question)| !question.is_declared(capabilities)) {
            return Err(undeclared());
        }
        let own = self.upstream().handlers.capabilities();
        let answers = questions.into_iter().enumerate().map(|(nth, (key, question))| async move {
            let answer = if question.is_declared(own) {
                self.answer(question, asked.cx.clone()).await?
            } else {
                self.pass(&passed_key(&self.server().name, round, nth, &key), &question, &asked.cx).await?
            };
            Ok((key, answer))
        });
        let answers = try_parallel(answers.map(FutureExt::boxed_local)).await?;
        let mut text = String::from("{");
        for (key, answer) in answers {
            if text.len() > 1 {
                text.push(',');
            }
            // A string always serializes.
            text.push_str(&write::to_string(&key).unwrap_or_default());
            text.push(':');
            text.push_str(answer.get());
        }
        text.push('}');
        Ok(write::raw_value(text))
    }

    /// Asks the caller of this program. If the answer has not arrived, the future stays pending and the round of the caller ends.
    async fn pass(&self, key: &str, question: &Question, cx: &Context) -> Result<Box<RawValue>, Failed> {
        let request = question.for_caller().ok_or_else(undeclared)?;
        if let Question::Url(UrlElicitation { url, .. }) = question
            && is_on_own_host(url, cx)
        {
            return Err((Failure::Malformed("asks to open a URL of this program"), None));
        }
        cx.pass_question(key, request)
            .await
            .map_err(|error| (Failure::Local(format!("asked a question: {error}.")), None))
    }
}

/// Returns whether a URL has the host of this program. A page of this program must not be opened in the name of another server.
fn is_on_own_host(url: &str, cx: &Context) -> bool {
    // A name with a dot at its end is the same name.
    let host = |url| origin_of(url).and_then(host_of).map(|host| host.trim_end_matches('.'));
    let own = cx.resource().and_then(host);
    own.zip(host(url)).is_some_and(|(own, host)| own.eq_ignore_ascii_case(host))
}

/// Returns the key of a passed question: the server, the round and the server's key.
///
/// A key with unusual characters is replaced by its number, so that it cannot have the form of another key.
fn passed_key(server: &str, round: usize, nth: usize, key: &str) -> String {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if key.len() <= KEY && !key.is_empty() && key.bytes().all(is_usual) {
        format!("{server}.{round}.{key}")
    } else {
        format!("{server}.{round}.#{nth}")
    }
}
