//! The wait for a task: the client asks for its state at intervals, answers its questions, and returns the result of the call.
//!
//! A request about a task has no effect, so it is repeated, and failures of the network do not end the wait.
//!
//! Source: the extension io.modelcontextprotocol/tasks for 2026-07-28.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use edge_json::{Value, write};
use futures::{FutureExt, TryFutureExt};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::cancel_task::{Unfinished, continues_later, end_of_round, task_request, unknown};
use super::respondent::{ANSWERS, QuestionAnswer, Respondent, TOO_MANY_ROUNDS, answers};
use super::step::step;
use crate::call::error::HandlerError;
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Delivery, Failure};
use crate::client::questions::handlers::AnswerFuture;
use crate::client::questions::passed::key_in_task;
use crate::client::remote_task::RemoteTask;
use crate::client::session::remote_request::RemoteRequest;
use crate::client::wire::message::Params;
use crate::client::wire::response::{ResultKind, RoundResult, of_task_error, parsed};
use crate::client::wire::task::{CreatedTask, GET, RemoteTaskState, TaskStatus, UPDATE};
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

/// The outcome of one request about a task: its answer, or an outage. A durable task stores it.
#[derive(Default, Deserialize, Serialize)]
struct Poll {
    answer: Option<Box<RawValue>>,
    /// A description of the outage.
    problem: String,
    /// The time after which the server wants to be asked again.
    after: Option<Duration>,
}

impl Poll {
    fn outage(error: &ClientError) -> Self {
        Self { answer: None, problem: error.to_string(), after: error.failure().retry_after() }
    }
}

/// The wait for a task, and the call to which it belongs.
struct TaskPoll<'a> {
    conversation: &'a Rc<Conversation>,
    /// The call: its settings are those of the requests about the task.
    call: &'a RemoteRequest,
    respondent: &'a Respondent,
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
pub(super) async fn result_or_task(
    conversation: &Rc<Conversation>,
    call: &RemoteRequest,
    result: Box<RawValue>,
    respondent: &Respondent,
) -> Result<RoundResult, ClientError> {
    let created = CreatedTask::read(parsed(&result)?.root()).map_err(Failure::Malformed)?;
    let length = write::literal(&created.id).get().len();
    if respondent.task_wait.longest_passed_id.is_some_and(|longest| length <= longest) {
        return Ok(RoundResult { kind: ResultKind::Task, result });
    }
    let tool = call.target.clone().unwrap_or_default();
    let is_working = created.is_working();
    let remote = RemoteTask::new(conversation.server.name.clone(), tool, created.id);
    let unfinished = Unfinished::new(conversation, &remote, &respondent.cx, respondent.remembers());
    let mut poll = TaskPoll::new(conversation, call, remote, respondent);
    poll.set_interval(&created.members);
    poll.unfinished = Some(unfinished);
    poll.result(!is_working).await.map(RoundResult::complete)
}

/// Returns the result of a task that the program knows.
pub(super) async fn result_of_known(
    conversation: &Rc<Conversation>,
    call: &RemoteRequest,
    remote: RemoteTask,
    respondent: &Respondent,
) -> Result<RoundResult, ClientError> {
    TaskPoll::new(conversation, call, remote, respondent).result(true).await.map(RoundResult::complete)
}

impl<'a> TaskPoll<'a> {
    fn new(
        conversation: &'a Rc<Conversation>,
        call: &'a RemoteRequest,
        remote: RemoteTask,
        respondent: &'a Respondent,
    ) -> Self {
        let is_durable = respondent.cx.task().is_some();
        let longest = if is_durable { LONGEST_TASK_SECONDS } else { UPSTREAM_TASK_SECONDS };
        let wait = respondent.task_wait.time.unwrap_or(Duration::from_secs(longest));
        let of_handler = respondent.cx.time_left().map(|left| left.saturating_sub(BEFORE_DEADLINE));
        let time = of_handler.map_or(wait, |left| wait.min(left));
        if let Some(journal) = respondent.cx.rounds().journal() {
            journal.must_release();
        }
        Self {
            conversation,
            call,
            respondent,
            remote,
            interval: Duration::from_secs(UPSTREAM_POLL_DEFAULT_SECONDS),
            until: conversation.after(time),
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
            let document = parsed(&json).map_err(|error| self.failed(error))?;
            let state = RemoteTaskState::read(document.root(), self.remote.id());
            let state = state.map_err(|problem| self.failed(Failure::Malformed(problem).into()))?;
            self.set_interval(&state.members);
            let error = match state.status {
                TaskStatus::Working => continue,
                TaskStatus::Asks(requests) => {
                    self.answer(requests).await?;
                    continue;
                }
                TaskStatus::Completed(result) => {
                    self.forget();
                    // The text was parsed, so a copy of it exists.
                    return Ok(result.to_raw().unwrap_or_default());
                }
                TaskStatus::Failed(error) => ClientError::new(of_task_error(error), state.members.message),
                TaskStatus::Cancelled => Failure::TaskCancelled.into(),
            };
            self.forget();
            return Err(self.failed(error));
        }
    }

    /// Answers the questions that are not answered yet.
    async fn answer(&mut self, requests: Option<Value<'_>>) -> Result<(), ClientError> {
        let conversation = self.conversation;
        let capabilities = self.call.capabilities.unwrap_or_else(|| self.respondent.capabilities(conversation));
        let passed_key = |_: usize, key: &str| key_in_task(&conversation.server.name, key);
        let questions = self.respondent.questions(
            conversation,
            requests,
            capabilities,
            &|key| self.answered.contains(key),
            &passed_key,
        );
        let questions = questions.map_err(|error| self.failed(error))?;
        if questions.is_empty() {
            return Ok(());
        }
        self.rounds = self.rounds.saturating_add(1);
        if self.rounds > UPSTREAM_ROUNDS {
            return Err(self.failed(TOO_MANY_ROUNDS.into()));
        }
        let keys: Vec<_> = questions.iter().map(|question| question.key.clone()).collect();
        let questions = questions.into_iter().map(|question| self.once(question)).collect();
        let answers = answers(questions).await.map_err(|error| self.failed(error))?;
        self.send(UPDATE, Some(answers)).await?;
        self.answered.extend(keys);
        Ok(())
    }

    /// Returns a key and its answer. A function of the program answers a question once in all rounds of our caller's request, also if the
    /// server still lists the question.
    fn once(&self, question: QuestionAnswer) -> (String, AnswerFuture) {
        let QuestionAnswer { key, is_passed, answer } = question;
        if is_passed || !self.respondent.remembers() {
            return (key, answer);
        }
        let (conversation, cx) = (self.conversation.clone(), self.respondent.cx.clone());
        let (name, update) = (format!("answer {key} in a task"), self.request(UPDATE, None));
        let answer = async move {
            let answer = answer.map_ok(RoundResult::complete).boxed_local();
            step(&conversation, &cx, &name, &update, answer).await.map(|answer| answer.result)
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
            if *error.failure() == Failure::BudgetExhausted {
                return Err(self.late(Some(&error)));
            }
            if *error.failure() == Failure::TaskUnknown {
                self.forget();
            }
            return Err(self.failed(error));
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
        let step = self.respondent.cx.step(format!("request {method}"), &(), async || {
            match outcome(self.attempt(method, answers).await) {
                Ok(Ok(answer)) => Ok(Poll { answer: Some(answer), ..Poll::default() }),
                Ok(Err(outage)) => Ok(Poll::outage(&outage)),
                Err(error) => {
                    let shown = HandlerError::new(error.to_string());
                    failed.set(Some(error));
                    Err(shown)
                }
            }
        });
        match step.await {
            Ok(Poll { answer: Some(answer), .. }) => Ok(Ok(answer)),
            Ok(Poll { problem, after, .. }) => {
                Ok(Err(self.failed(ClientError::new(Failure::Unavailable { after }, Some(problem)))))
            }
            Err(error) => Err(failed.take().unwrap_or_else(|| self.interrupted(error))),
        }
    }

    /// Sends a request about the task once. If our caller signs in, it is sent again.
    async fn attempt(&self, method: &'static str, answers: Option<&RawValue>) -> Result<Box<RawValue>, ClientError> {
        // Requests about a task have their own limit: the time of the wait.
        self.conversation.budget.permit_one();
        match self.conversation.result(&self.request(method, answers)).await {
            Err(error) if self.respondent.signs_in(self.conversation, &error).await? => {
                self.conversation.result(&self.request(method, answers)).await
            }
            answer => answer,
        }
    }

    fn request(&self, method: &'static str, answers: Option<&RawValue>) -> RemoteRequest {
        let params = match answers {
            Some(answers) => Params::default().with(ANSWERS, answers.to_owned()),
            None => Params::default(),
        };
        let left = self.left().max(LAST);
        RemoteRequest {
            capabilities: self.call.capabilities,
            deadline: Some(self.conversation.after(left).min(self.conversation.deadline(self.call.timeout))),
            ..task_request(&self.remote, method, params, self.call.timeout.min(left))
        }
    }

    /// Waits until the next request, or until the time is over. After an outage, the server may want more time.
    ///
    /// # Errors
    /// The time is over.
    async fn pause(&mut self, outage: Option<&ClientError>) -> Result<(), ClientError> {
        if self.durable.is_none() && self.respondent.remembers() && continues_later(&self.respondent.cx) {
            return end_of_round(&self.respondent.cx).await.map_err(|error| self.interrupted(error));
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
        self.respondent.cx.sleep(time).await;
        Ok(())
    }

    fn interrupted(&self, error: HandlerError) -> ClientError {
        let problem = format!("has not finished the call, and the wait has ended: {}", error.message());
        self.failed(ClientError::new(Failure::Local(problem), error.0.cause))
    }

    fn left(&self) -> Duration {
        if let Some((rest, _)) = self.durable {
            return rest;
        }
        Duration::from_millis(self.until.saturating_sub(self.conversation.cx.host().now_ms()))
    }

    /// Returns the error of a call whose task has not ended in time.
    fn late(&mut self, cause: Option<&ClientError>) -> ClientError {
        let failure = if self.respondent.task_wait.cancels_late {
            Failure::TaskCancelled
        } else {
            self.forget();
            Failure::StillRunning(self.remote.clone())
        };
        self.failed(ClientError::new(failure, cause.map(ToString::to_string)))
    }

    /// The task is not cancelled: it has ended, or the program gets it.
    fn forget(&mut self) {
        if let Some(unfinished) = &mut self.unfinished {
            unfinished.forget();
        }
    }

    /// Returns the error of the call, also for an error of a request about the task. The server has executed a part of the call, or all of it.
    fn failed(&self, error: ClientError) -> ClientError {
        let method = &self.call.method;
        let error = self.conversation.error_of(method.clone())(error).of_method(method.clone());
        self.respondent.explained(error.delivered_as(Delivery::Unknown))
    }
}
