//! The wait for a task: the client asks for its state at intervals, answers its questions, and returns the result of the call.
//!
//! A request about a task has no effect, so it is repeated, and failures of the network do not end the wait.
//!
//! Source: the extension io.modelcontextprotocol/tasks for 2026-07-28.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use edge_json::{Document, JsonLimits, Value, write};
use futures::FutureExt;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::asked::{ANSWERS, Asked, Question, TOO_MANY_ROUNDS, answers};
use super::cancel_task::{Unfinished, request, unknown};
use super::step::step;
use super::waiting::{continues_later, end_of_round};
use crate::call::error::HandlerError;
use crate::client::error::{ClientError, Executed, Failed, Failure};
use crate::client::questions::handlers::AnswerFuture;
use crate::client::questions::passed::key_in_task;
use crate::client::remote_task::RemoteTask;
use crate::client::session::channel::Channel;
use crate::client::session::outgoing::Outgoing;
use crate::client::session::request::Session;
use crate::client::session::send::deadline;
use crate::client::wire::message::Params;
use crate::client::wire::response::{ResultKind, RoundResult, of_task_error};
use crate::client::wire::task::{Created, GET, Status, TaskState, UPDATE};
use crate::limits::{
    LONGEST_TASK_SECONDS, UPSTREAM_POLL_DEFAULT_SECONDS, UPSTREAM_POLL_MOST_SECONDS, UPSTREAM_ROUNDS,
    UPSTREAM_TASK_SECONDS,
};
use crate::protocol::task::TaskMembers;

/// The time before the deadline of the handler at which the wait ends, so that the handler can react.
const BEFORE_DEADLINE: Duration = Duration::from_secs(2);
/// The least time for the last request.
const LAST: Duration = Duration::from_secs(1);

/// In a durable task, a pause is at least the wait so far, divided by this number.
const PAUSES: u32 = 50;

/// The answer to a request about a task, or an outage. A durable task stores it.
#[derive(Default, Deserialize, Serialize)]
struct Sent {
    answer: Option<Box<RawValue>>,
    /// A description of the outage.
    problem: String,
    /// The time after which the server wants to be asked again.
    after: Option<Duration>,
}

impl Sent {
    fn outage(error: &ClientError) -> Self {
        Self { answer: None, problem: error.to_string(), after: error.failure().retry_after() }
    }
}

/// A task, and the call to which it belongs.
pub(super) struct Waiting<'a> {
    session: &'a Session,
    /// The call: its settings are those of the requests about the task.
    call: &'a Outgoing,
    asked: &'a Asked,
    remote: RemoteTask,
    interval: Duration,
    /// The end of the wait, in milliseconds since 1970.
    until: u64,
    /// In a durable task: the rest of the wait, and the time of the pauses so far. Only pauses count, because a later attempt must make the same
    /// decisions at the same points of the wait.
    durable: Option<(Duration, Duration)>,
    /// The keys of the answered questions.
    answered: BTreeSet<String>,
    rounds: usize,
    /// Cancels the task if it does not end. `None` for a task that the program knows.
    unfinished: Option<Unfinished>,
}

/// Returns the result of the task with which a server has answered a call, or the task, if the program gets it.
pub(super) async fn outcome_of_created(
    session: &Rc<Session>,
    call: &Outgoing,
    result: Box<RawValue>,
    asked: &Asked,
) -> Result<RoundResult, ClientError> {
    let created = created(&session.channel, call, &result)?;
    let length = write::literal(&created.id).get().len();
    if call.task_wait.longest_passed_id.is_some_and(|longest| length <= longest) {
        return Ok(RoundResult { kind: ResultKind::Task, result });
    }
    result_of_created(session, call, created, asked).await.map(RoundResult::complete)
}

/// Reads the task with which a server has answered a call.
pub(super) fn created(channel: &Channel, call: &Outgoing, result: &RawValue) -> Result<Created, ClientError> {
    Created::read(result).map_err(|problem| channel.failed(call.method.clone(), Failure::Malformed(problem).into()))
}

async fn result_of_created(
    session: &Rc<Session>,
    call: &Outgoing,
    created: Created,
    asked: &Asked,
) -> Result<Box<RawValue>, ClientError> {
    let channel = &session.channel;
    let tool = call.target.clone().unwrap_or_default();
    let is_working = created.is_working();
    let remote = RemoteTask::new(channel.server().name.clone(), tool, created.id);
    let mut waiting = Waiting::new(session, call, asked, remote);
    waiting.set_interval(&created.members);
    waiting.unfinished = Some(Unfinished::new(session, &waiting.remote, &asked.cx, asked.remembers()));
    waiting.result(!is_working).await
}

/// Returns the result of a task that the program knows.
pub(super) async fn result_of_known(
    session: &Session,
    call: &Outgoing,
    remote: RemoteTask,
    asked: &Asked,
) -> Result<Box<RawValue>, ClientError> {
    Waiting::new(session, call, asked, remote).result(true).await
}

impl<'a> Waiting<'a> {
    fn new(session: &'a Session, call: &'a Outgoing, asked: &'a Asked, remote: RemoteTask) -> Self {
        let is_durable = asked.cx.task().is_some();
        let longest = if is_durable { LONGEST_TASK_SECONDS } else { UPSTREAM_TASK_SECONDS };
        let wait = call.task_wait.time.unwrap_or(Duration::from_secs(longest));
        let of_handler = asked.cx.time_left().map(|left| left.saturating_sub(BEFORE_DEADLINE));
        let time = of_handler.map_or(wait, |left| wait.min(left));
        if let Some(journal) = asked.cx.rounds().journal() {
            journal.must_release();
        }
        Self {
            session,
            call,
            asked,
            remote,
            interval: Duration::from_secs(UPSTREAM_POLL_DEFAULT_SECONDS),
            until: after(&session.channel, time),
            durable: is_durable.then_some((wait, Duration::ZERO)),
            answered: BTreeSet::new(),
            rounds: 0,
            unfinished: None,
        }
    }

    /// Sets the interval. A state without an interval does not change it.
    fn set_interval(&mut self, members: &TaskMembers) {
        self.interval = members.poll_interval_ms.map_or(self.interval, Duration::from_millis);
    }

    /// Waits for the end of the task. `is_due` says whether the first request is sent at once.
    async fn result(mut self, mut is_due: bool) -> Result<Box<RawValue>, ClientError> {
        loop {
            if !is_due {
                self.pause(None).await?;
            }
            is_due = false;
            let json = self.send(GET, None).await?;
            let document = Document::parse(json.get().as_bytes(), JsonLimits::MOST)
                .map_err(|_| self.failed(Failure::Malformed("has a result that is not JSON").into()))?;
            let state = TaskState::read(document.root(), self.remote.id());
            let state = state.map_err(|problem| self.failed(Failure::Malformed(problem).into()))?;
            self.set_interval(&state.members);
            match state.status {
                Status::Working => {}
                Status::Asks(requests) => self.answer(requests).await?,
                Status::Completed(result) => {
                    self.forget();
                    // The text was parsed, so a copy of it exists.
                    return Ok(result.to_raw().unwrap_or_default());
                }
                Status::Failed(error) => {
                    self.forget();
                    return Err(self.failed(Failed::new(of_task_error(error), state.members.message)));
                }
                Status::Cancelled => {
                    self.forget();
                    return Err(self.failed(Failure::TaskCancelled.into()));
                }
            }
        }
    }

    /// Answers the questions that are not answered yet.
    async fn answer(&mut self, requests: Option<Value<'_>>) -> Result<(), ClientError> {
        let channel = &self.session.channel;
        let capabilities = self.call.capabilities.unwrap_or_else(|| self.asked.capabilities(channel.upstream()));
        let passed_key = |_: usize, key: &str| key_in_task(&channel.server().name, key);
        let questions =
            self.asked.questions(channel, requests, capabilities, &|key| self.answered.contains(key), &passed_key);
        let questions = questions.map_err(|failed| self.failed(failed))?;
        if questions.is_empty() {
            return Ok(());
        }
        self.rounds = self.rounds.saturating_add(1);
        if self.rounds > UPSTREAM_ROUNDS {
            return Err(self.failed(TOO_MANY_ROUNDS.into()));
        }
        let keys: Vec<_> = questions.iter().map(|question| question.key.clone()).collect();
        let questions = questions.into_iter().map(|question| self.once(question)).collect();
        let answers = answers(questions).await.map_err(|failed| self.failed(failed))?;
        self.send(UPDATE, Some(answers)).await?;
        self.answered.extend(keys);
        Ok(())
    }

    /// Returns a key and its answer. A function of the program answers a question once in all rounds of our caller's request, also if the
    /// server still lists the question.
    fn once(&self, question: Question) -> (String, AnswerFuture) {
        let Question { key, is_passed, answer } = question;
        if is_passed || !self.asked.remembers() {
            return (key, answer);
        }
        let (channel, cx) = (self.session.channel.clone(), self.asked.cx.clone());
        let (name, update) = (format!("answer {key} in a task"), self.request(UPDATE, None));
        let answer = async move {
            let answer = async {
                answer.await.map(RoundResult::complete).map_err(|failed| channel.failed(UPDATE.into(), failed))
            };
            let answer = step(&channel, &cx, &name, &update, answer.boxed_local()).await;
            answer.map(|answer| answer.result).map_err(ClientError::into_failed)
        };
        (key, answer.boxed_local())
    }

    /// Sends a request about the task until the server answers it.
    async fn send(
        &mut self,
        method: &'static str,
        answers: Option<Box<RawValue>>,
    ) -> Result<Box<RawValue>, ClientError> {
        loop {
            let error = match self.sent(method, answers.as_deref()).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(outage)) => {
                    self.pause(Some(&outage)).await?;
                    continue;
                }
                Err(error) => error,
            };
            // In answer to `tasks/update`, the code may also mean an invalid answer.
            let error = if method == GET { unknown(error) } else { error };
            match error.failure() {
                Failure::TaskUnknown => {
                    self.forget();
                    return Err(self.of_call(error));
                }
                Failure::BudgetExhausted => return Err(self.late(Some(&error))),
                _ => return Err(self.asked.explained(&self.session.channel, self.of_call(error))),
            }
        }
    }

    /// Sends a request about the task once. In a durable task, a later attempt does not send it again. Returns the answer or an outage.
    async fn sent(
        &self,
        method: &'static str,
        answers: Option<&RawValue>,
    ) -> Result<Result<Box<RawValue>, ClientError>, ClientError> {
        let outcome = |sent: Result<_, ClientError>| match sent {
            Err(error) if !error.failure().is_outage() => Err(error),
            sent => Ok(sent),
        };
        if self.durable.is_none() {
            return outcome(self.attempt(method, answers).await);
        }
        let failed = Cell::new(None);
        let step = self.asked.cx.step(format!("request {method}"), &(), async || {
            match outcome(self.attempt(method, answers).await) {
                Ok(Ok(answer)) => Ok(Sent { answer: Some(answer), ..Sent::default() }),
                Ok(Err(outage)) => Ok(Sent::outage(&outage)),
                Err(error) => {
                    let shown = HandlerError::new(error.to_string());
                    failed.set(Some(error));
                    Err(shown)
                }
            }
        });
        match step.await {
            Ok(Sent { answer: Some(answer), .. }) => Ok(Ok(answer)),
            Ok(Sent { problem, after, .. }) => {
                Ok(Err(self.failed(Failed::new(Failure::Unavailable { after }, Some(problem)))))
            }
            Err(error) => Err(failed.take().unwrap_or_else(|| self.interrupted(error))),
        }
    }

    /// Sends a request about the task once. If our caller signs in, it is sent again.
    async fn attempt(&self, method: &'static str, answers: Option<&RawValue>) -> Result<Box<RawValue>, ClientError> {
        let channel = &self.session.channel;
        // Requests about a task have their own limit: the time of the wait.
        channel.of_call().permit_one();
        let sent = self.session.request(&mut self.request(method, answers)).await;
        match sent {
            Err(error) if self.asked.signs_in(channel, &error).await.map_err(|failed| self.failed(failed))? => {
                self.session.request(&mut self.request(method, answers)).await
            }
            sent => sent,
        }
    }

    fn request(&self, method: &'static str, answers: Option<&RawValue>) -> Outgoing {
        let channel = &self.session.channel;
        let params = match answers {
            Some(answers) => Params::default().with(ANSWERS, answers.to_owned()),
            None => Params::default(),
        };
        let left = self.left().max(LAST);
        let mut outgoing = request(method, &self.remote, params, self.call.timeout.min(left));
        outgoing.capabilities = self.call.capabilities;
        outgoing.deadline = Some(after(channel, left).min(deadline(channel, self.call.timeout)));
        outgoing
    }

    /// Waits until the next request, or until the time is over. After an outage, the server may want more time.
    ///
    /// # Errors
    /// The time is over.
    async fn pause(&mut self, outage: Option<&ClientError>) -> Result<(), ClientError> {
        if self.durable.is_none() && self.asked.remembers() && continues_later(&self.asked.cx) {
            return end_of_round(&self.asked.cx).await.map_err(|error| self.interrupted(error));
        }
        let left = self.left();
        if left.is_zero() {
            return Err(self.late(outage));
        }
        let most = Duration::from_secs(UPSTREAM_POLL_MOST_SECONDS);
        let after = outage.and_then(|outage| outage.failure().retry_after());
        let time = after.map_or(self.interval, |after| after.min(most).max(self.interval));
        let time = match &mut self.durable {
            None => time.min(left),
            Some((rest, waited)) => {
                // A journal has a limit of steps, so a long wait asks less often.
                let time = time.max(waited.checked_div(PAUSES).unwrap_or_default()).min(*rest);
                *rest = rest.saturating_sub(time);
                *waited = waited.saturating_add(time);
                time
            }
        };
        self.asked.cx.sleep(time).await;
        Ok(())
    }

    fn interrupted(&self, error: HandlerError) -> ClientError {
        let problem = format!("has not finished the call, and the wait has ended: {}", error.message());
        self.failed(Failed::new(Failure::Local(problem), error.0.cause))
    }

    fn left(&self) -> Duration {
        if let Some((rest, _)) = self.durable {
            return rest;
        }
        Duration::from_millis(self.until.saturating_sub(self.session.channel.host().now_ms()))
    }

    /// Returns the error of a call whose task has not ended in time.
    fn late(&mut self, cause: Option<&ClientError>) -> ClientError {
        let failure = if self.call.task_wait.cancels_late {
            Failure::TaskCancelled
        } else {
            self.forget();
            Failure::StillRunning(self.remote.clone())
        };
        self.failed(Failed::new(failure, cause.map(ToString::to_string)))
    }

    /// The task is not cancelled: it has ended, or the program gets it.
    fn forget(&mut self) {
        if let Some(unfinished) = &mut self.unfinished {
            unfinished.forget();
        }
    }

    /// Returns the error of the call. The server has executed a part of it, or all of it.
    fn failed(&self, failed: Failed) -> ClientError {
        let error = self.session.channel.failed(self.call.method.clone(), failed);
        self.asked.explained(&self.session.channel, error.executed_as(Executed::Unknown))
    }

    /// Returns the error of a request about the task as the error of the call.
    fn of_call(&self, error: ClientError) -> ClientError {
        error.of_method(self.call.method.clone()).executed_as(Executed::Unknown)
    }
}

/// Returns the time after `time`, in milliseconds since 1970.
fn after(channel: &Channel, time: Duration) -> u64 {
    channel.host().now_ms().saturating_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}
