//! The state of a call over its rounds: questions, answers and step results.
//!
//! In 2026-07-28 a question ends the round. The next request contains the answer. It runs the handler again from its
//! beginning, and now the answer is available.
//!
//! Source: 2026-07-28, basic/patterns/mrtr.

use std::cell::{Cell, Ref, RefCell};
use std::rc::Rc;

use edge_json::Value;
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::value::RawValue;

use super::journal::{Journal, JournalError};
use super::step_memory::{StepMemory, StepResult, StepStatus};
use super::task_info::Begin;
use crate::host::{Host, NoRandomness};
use crate::limits::QUESTIONS;
use crate::parallel::turn;
use crate::protocol::capabilities::ClientCapabilities;

/// An answer, and the key and digest of its question.
#[derive(Clone, Serialize)]
pub(crate) struct Answered {
    pub key: String,
    /// The digest of the question: see [`CallPath::question`](crate::call::call_path::CallPath::question).
    pub question: String,
    pub answer: Box<RawValue>,
    /// Whether the handler has read the answer in this round.
    #[serde(skip)]
    pub is_used: bool,
}

impl Answered {
    /// Reads an answer from a request state.
    pub(crate) fn read(answer: Value<'_>) -> Option<Self> {
        let (key, question) = (answer.string("key")?, answer.string("question")?);
        Some(Self { key, question, answer: answer.get("answer")?.to_raw()?, is_used: false })
    }
}

/// A question without an answer.
pub(crate) struct OpenQuestion {
    pub digest: String,
    /// The request for the client.
    pub request: serde_json::Value,
}

/// The state from earlier rounds.
#[derive(Default)]
pub(crate) struct Earlier {
    pub answers: Vec<Answered>,
    pub steps: Vec<StepResult>,
    /// The random id of the call.
    pub id: String,
}

/// The questions, answers and steps of one request.
pub(crate) struct Rounds {
    pub capabilities: ClientCapabilities,
    answers: RefCell<Vec<Answered>>,
    /// The questions with their keys. There are few of them.
    questions: RefCell<Vec<(String, OpenQuestion)>>,
    /// The random id of the call. It is empty until it is needed.
    id: RefCell<String>,
    obstacle: RefCell<Option<Obstacle>>,
    /// The time at which the first of the sleeping parts of a durable task continues, in milliseconds since 1970.
    wake_at: Cell<Option<u64>>,
    /// The point of the call at which its durable task begins.
    begin: Cell<Begin>,
    /// Whether the call has reached that point.
    starts_task: Cell<bool>,
    /// The journal of the durable task that the handler belongs to. It stores the steps.
    journal: Option<Rc<dyn Journal>>,
    is_retry: Cell<bool>,
    steps: RefCell<StepMemory>,
    /// The number of nested calls or steps that have begun, by their digest.
    counts: RefCell<FxHashMap<Rc<str>, usize>>,
    /// The keys whose question differs from the question that was answered in an earlier round.
    changed: RefCell<Vec<String>>,
    /// Whether a request was dropped that another server may have executed.
    has_cancelled: Cell<bool>,
}

/// The reason why a round ends and cannot be continued. The texts are for the log.
#[derive(Clone)]
pub(crate) enum Obstacle {
    /// Two different questions have the same key.
    Conflict(String),
    /// The request state would be too large.
    Excess(String),
    /// The journal of a durable task refuses a step.
    Journal(JournalError),
}

impl Rounds {
    /// Creates the state of a call. The client has these `capabilities`, and the request state has at most
    /// `state_limit` bytes.
    pub(crate) fn new(capabilities: ClientCapabilities, state_limit: usize) -> Self {
        Self {
            capabilities,
            answers: RefCell::default(),
            questions: RefCell::default(),
            id: RefCell::default(),
            obstacle: RefCell::default(),
            wake_at: Cell::default(),
            begin: Cell::new(Begin::Never),
            starts_task: Cell::default(),
            journal: None,
            is_retry: Cell::default(),
            steps: RefCell::new(StepMemory::new(state_limit)),
            counts: RefCell::default(),
            changed: RefCell::default(),
            has_cancelled: Cell::default(),
        }
    }

    /// Makes the handler the attempt of a durable task with this journal.
    pub(crate) fn with_journal(self, journal: Rc<dyn Journal>) -> Self {
        Self { journal: Some(journal), ..self }
    }

    /// Returns the journal of the durable task that the handler belongs to.
    pub(crate) fn journal(&self) -> Option<&Rc<dyn Journal>> {
        // Without the feature, the compiler then removes the code for tasks.
        if cfg!(feature = "tasks") { self.journal.as_ref() } else { None }
    }

    /// Returns the maximum size of the request state, in bytes.
    pub(crate) fn state_limit(&self) -> usize {
        self.steps.borrow().limit
    }

    /// Restores the state that came with the request.
    pub(crate) fn resume(&self, earlier: Earlier) {
        self.answers.replace(earlier.answers);
        self.id.replace(earlier.id);
        self.steps.borrow_mut().resume(earlier.steps);
        self.is_retry.set(true);
    }

    /// Returns whether the request continues a call that asked for input in an earlier round.
    pub(crate) fn is_retry(&self) -> bool {
        self.is_retry.get()
    }

    /// Returns whether the call had an earlier round, or can have another one or become a task. If not, results do not have to be stored.
    pub(crate) fn spans_rounds(&self) -> bool {
        let ClientCapabilities { elicitation_form, elicitation_url, sampling, roots } = self.capabilities;
        let has_task = self.journal().is_some() || self.begin() == Begin::AtMark;
        has_task || self.is_retry() || elicitation_form || elicitation_url || sampling || roots
    }

    pub(crate) fn answers(&self) -> Ref<'_, Vec<Answered>> {
        self.answers.borrow()
    }

    /// Returns the random id of the call, which is the same in all its rounds.
    pub(crate) fn call_id(&self, host: &Rc<dyn Host>) -> Result<String, NoRandomness> {
        let mut id = self.id.borrow_mut();
        if id.is_empty() {
            let mut random = [0; 16];
            host.fill_random(&mut random)?;
            *id = format!("{:032x}", u128::from_be_bytes(random));
        }
        Ok(id.clone())
    }

    pub(crate) fn steps(&self) -> Ref<'_, StepMemory> {
        self.steps.borrow()
    }

    /// Returns the result of the step at `place`, if an earlier round stored it.
    pub(super) fn result(&self, place: &str, step: &str) -> Option<Box<RawValue>> {
        let Some(journal) = self.journal() else { return self.steps.borrow_mut().result(place) };
        let result = journal.result(place).map_err(|error| self.stop(Obstacle::Journal(error))).ok()??;
        self.steps.borrow_mut().add_finished(place, step);
        Some(result)
    }

    /// Stores the result of a step for later rounds. If a journal cannot store it, the round stops.
    pub(super) fn remember(&self, place: &str, step: &str, result: Box<RawValue>) {
        match self.journal() {
            None => self.steps.borrow_mut().remember(place, step, result),
            Some(journal) => {
                if let Err(error) = journal.finish(place, step, &result) {
                    self.stop_at(Obstacle::Journal(error), place);
                }
            }
        }
    }

    /// Ends the round as soon as no running step can still finish. The first reason counts.
    pub(super) fn stop(&self, reason: Obstacle) {
        self.obstacle.borrow_mut().get_or_insert(reason);
    }

    /// Ends the round, like [`stop`](Self::stop). The steps that contain `place` cannot finish.
    pub(super) fn stop_at(&self, reason: Obstacle, place: &str) {
        self.stop(reason);
        self.steps.borrow_mut().wait_at(place);
    }

    /// Returns whether the journal of a durable task has refused a step.
    pub(super) fn has_stopped(&self) -> bool {
        matches!(*self.obstacle.borrow(), Some(Obstacle::Journal(_)))
    }

    /// Ends the round. The durable task continues at `wake_at`, in milliseconds since 1970, or earlier.
    pub(crate) fn sleep_until(&self, wake_at: u64, place: &str) {
        self.wake_at.set(self.wake_at.get().into_iter().chain([wake_at]).min());
        self.steps.borrow_mut().wait_at(place);
    }

    /// Returns the time at which the durable task continues.
    pub(crate) fn wake_at(&self) -> Option<u64> {
        self.wake_at.get()
    }

    /// Sets the point of the call at which its durable task begins.
    pub(crate) fn begin_task(&self, begin: Begin) {
        self.begin.set(begin);
    }

    pub(crate) fn begin(&self) -> Begin {
        if cfg!(feature = "tasks") { self.begin.get() } else { Begin::Never }
    }

    /// Ends the round at the point at which the durable task begins.
    pub(crate) fn start_task(&self, place: &str) {
        self.starts_task.set(true);
        self.steps.borrow_mut().wait_at(place);
    }

    /// Continues with the durable task instead of the handler.
    pub(crate) fn leave_handler(&self) {
        self.starts_task.set(false);
        self.begin.set(Begin::Never);
    }

    /// Returns whether the handler has reached the point at which its durable task begins.
    pub(crate) fn starts_task(&self) -> bool {
        cfg!(feature = "tasks") && self.starts_task.get()
    }

    /// Stores the failure of a step that was dropped while another server may have executed its request.
    pub(crate) fn remember_cancelled(&self, place: &str, step: &str, failure: Box<RawValue>) {
        self.has_cancelled.set(true);
        if self.spans_rounds() {
            self.remember(place, step, failure);
        }
    }

    /// Returns whether a request was dropped that another server may have executed.
    pub(super) fn has_cancelled(&self) -> bool {
        self.has_cancelled.get()
    }

    /// Counts a nested call or step, and returns its ordinal among those with the same digest, from 1.
    pub(super) fn count(&self, digest: &str) -> usize {
        let mut counts = self.counts.borrow_mut();
        let count = counts.get(digest).map_or(1, |count| count.saturating_add(1));
        counts.insert(digest.into(), count);
        count
    }

    /// Returns the outcomes of the steps so far.
    pub(crate) fn step_runs(&self) -> serde_json::Value {
        self.steps.borrow().runs()
    }

    /// Returns whether the handler waits for something that this round does not have, such as the answer to a question. If so, no further
    /// step begins and the round ends.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.questions.borrow().is_empty()
            || self.obstacle.borrow().is_some()
            || self.wake_at.get().is_some()
            || self.starts_task()
            || self.journal().is_some_and(|journal| journal.is_over())
    }

    pub(crate) fn questions(&self) -> Ref<'_, Vec<(String, OpenQuestion)>> {
        self.questions.borrow()
    }

    /// Returns the answer to the question with this key and digest, if it has arrived.
    pub(super) fn answer(&self, key: &str, question: &str) -> Option<Box<RawValue>> {
        let mut answers = self.answers.borrow_mut();
        let answered = answers.iter_mut().find(|answered| answered.key == key && answered.question == question)?;
        answered.is_used = true;
        Some(answered.answer.clone())
    }

    /// Adds a question that is asked at `place`. An answer to a different question with the same key is dropped, unless
    /// this round has used it.
    pub(super) fn ask(&self, key: String, question: OpenQuestion, place: &str) {
        let (mut questions, mut answers) = (self.questions.borrow_mut(), self.answers.borrow_mut());
        let before = answers.len();
        answers.retain(|answered| answered.key != key || answered.is_used);
        if answers.len() < before {
            self.changed.borrow_mut().push(key.clone());
        }
        self.steps.borrow_mut().wait_at(place);
        match questions.iter().find(|(asked, _)| *asked == key) {
            Some((_, asked)) if asked.digest != question.digest => {
                let conflict =
                    format!("two different questions have the key {key:?}: give each question a different key");
                self.obstacle.replace(Some(Obstacle::Conflict(conflict)));
            }
            Some(_) => {}
            None if questions.len().saturating_add(answers.len()) >= QUESTIONS => {
                let excess = format!("it asks more than {QUESTIONS} questions");
                self.obstacle.replace(Some(Obstacle::Excess(excess)));
            }
            None => questions.push((key, question)),
        }
    }

    /// Returns the reason why the call cannot continue after this round, or `None` if it can.
    pub(crate) fn obstacle(&self) -> Option<Obstacle> {
        let excess = || self.steps.borrow().excess().map(Obstacle::Excess);
        self.obstacle.borrow().clone().or_else(excess)
    }

    /// Returns warnings for the developer. They name steps and keys, but do not contain values.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let steps = self.steps.borrow();
        for step in steps.changed() {
            warnings.push(format!(
                "step `{step}` ran again: an earlier round of the call finished it with a different input"
            ));
        }
        for key in &*self.changed.borrow() {
            warnings.push(format!(
                "question {key:?} was asked again: an earlier round of the call asked a different question with this key"
            ));
        }
        // Only the deadline ends a round while a running step can still finish.
        if self.is_waiting() {
            for step in steps.unblocked() {
                warnings.push(format!(
                    "step `{step}` was cancelled by the deadline while the call waits for the client: it will run again"
                ));
            }
        }
        warnings
    }

    /// Returns whether the handler waits and no running step can still finish.
    pub(super) fn is_round_over(&self) -> bool {
        self.is_waiting() && self.steps.borrow().unblocked().next().is_none()
    }
}

/// A running step. The round does not end before this value is dropped.
pub(crate) struct RunningStep {
    rounds: Rc<Rounds>,
    host: Rc<dyn Host>,
    run: usize,
    status: StepStatus,
}

impl RunningStep {
    /// Begins a step if the handler does not wait for something else. Otherwise the future stays pending until the round ends.
    pub(super) async fn begin(rounds: &Rc<Rounds>, place: &str, step: &str, host: &Rc<dyn Host>) -> Self {
        if let Some(journal) = rounds.journal() {
            // Parallel parts of the handler must reach their own steps first.
            if journal.has_similar(place, step) {
                turn().await;
            }
            if !rounds.is_waiting()
                && let Err(error) = journal.begin(place, step)
            {
                rounds.stop(Obstacle::Journal(error));
            }
        }
        if rounds.is_waiting() {
            rounds.steps.borrow_mut().wait_at(place);
            std::future::pending::<()>().await;
        }
        let run = rounds.steps.borrow_mut().begin(place, step, host.now_ms());
        Self { rounds: rounds.clone(), host: host.clone(), run, status: StepStatus::Failed }
    }

    /// Ends the step successfully.
    pub(super) fn succeed(mut self) {
        self.status = StepStatus::Success;
    }
}

impl Drop for RunningStep {
    fn drop(&mut self) {
        self.rounds.steps.borrow_mut().end(self.run, self.status, self.host.now_ms());
    }
}
