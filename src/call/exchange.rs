//! What a call remembers from one round to the next: its questions, their answers, and the results of its steps.
//!
//! In 2026-07-28 a question ends the round. Its answer comes with the next request, in which the handler runs again from its
//! beginning, and finds it. Source: 2026-07-28, basic/patterns/mrtr.

use std::cell::{Cell, Ref, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::step_memory::{Finished, Status, StepMemory, StepRun};
use crate::host::{Host, NoRandomness};
use crate::limits::QUESTIONS;
use crate::protocol::capabilities::ClientCapabilities;

/// An answer, and the question that it belongs to.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Answered {
    pub key: String,
    /// The digest of the question: see [`CallPath::question`](crate::call::call_path::CallPath::question).
    pub question: String,
    pub answer: Box<RawValue>,
    /// The handler has had it in this round.
    #[serde(skip)]
    pub is_used: bool,
}

/// A question that waits for its answer.
pub(crate) struct Question {
    pub digest: String,
    /// As it is sent.
    pub request: serde_json::Value,
}

/// What an earlier round has left.
#[derive(Default)]
pub(crate) struct Earlier {
    pub answers: Vec<Answered>,
    pub steps: Vec<Finished>,
    /// The random id of the call.
    pub id: String,
}

/// What has been asked, answered and done in one request.
pub(crate) struct Exchange {
    pub capabilities: ClientCapabilities,
    answers: RefCell<Vec<Answered>>,
    questions: RefCell<BTreeMap<String, Question>>,
    /// The random id of the call, once it is needed.
    id: RefCell<String>,
    unsendable: RefCell<Option<Unsendable>>,
    is_retry: Cell<bool>,
    steps: RefCell<StepMemory>,
    /// How often each call or step has begun, by its digest.
    counts: RefCell<BTreeMap<String, u32>>,
    /// The keys under which another question was answered in an earlier round.
    changed: RefCell<Vec<String>>,
}

/// Why the questions of a round cannot be sent. The texts are for the log.
#[derive(Clone)]
pub(crate) enum Unsendable {
    /// Two questions have one key.
    Conflict(String),
    /// The call has more to remember than a state carries.
    Excess(String),
}

impl Exchange {
    /// A call of a client with `capabilities`, whose state has at most `state_limit` bytes.
    pub(crate) fn new(capabilities: ClientCapabilities, state_limit: usize) -> Self {
        Self {
            capabilities,
            answers: RefCell::default(),
            questions: RefCell::default(),
            id: RefCell::default(),
            unsendable: RefCell::default(),
            is_retry: Cell::default(),
            steps: RefCell::new(StepMemory::new(state_limit)),
            counts: RefCell::default(),
            changed: RefCell::default(),
        }
    }

    /// Takes over what came with the request.
    pub(crate) fn resume(&self, earlier: Earlier) {
        self.answers.replace(earlier.answers);
        self.id.replace(earlier.id);
        self.steps.borrow_mut().resume(earlier.steps);
        self.is_retry.set(true);
    }

    pub(crate) fn is_retry(&self) -> bool {
        self.is_retry.get()
    }

    /// Whether the call has had a round before, or may have another. If not, nothing has to be remembered.
    pub(crate) fn has_rounds(&self) -> bool {
        let ClientCapabilities { elicitation_form, elicitation_url, sampling, roots } = self.capabilities;
        self.is_retry() || elicitation_form || elicitation_url || sampling || roots
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

    /// Returns the result that an earlier round remembered of the step at `place`.
    pub(super) fn result(&self, place: &str) -> Option<Box<RawValue>> {
        self.steps.borrow_mut().result(place)
    }

    /// Remembers the result of a step.
    pub(super) fn remember(&self, place: &str, step: &str, result: Box<RawValue>) {
        self.steps.borrow_mut().remember(place, step, result);
    }

    /// Which call or step of this digest the next one is, from 1.
    pub(super) fn count(&self, digest: &str) -> u32 {
        let mut counts = self.counts.borrow_mut();
        let count = counts.entry(digest.to_owned()).or_default();
        *count = count.saturating_add(1);
        *count
    }

    /// Returns what became of the steps so far.
    pub(crate) fn step_runs(&self) -> Vec<StepRun> {
        self.steps.borrow().runs().to_vec()
    }

    /// Whether the handler waits for an answer: the round ends, and no step begins any more.
    pub(crate) fn has_questions(&self) -> bool {
        !self.questions.borrow().is_empty() || self.unsendable.borrow().is_some()
    }

    pub(crate) fn questions(&self) -> Ref<'_, BTreeMap<String, Question>> {
        self.questions.borrow()
    }

    /// The answer to the question of this key and digest, if it has come.
    pub(super) fn answer(&self, key: &str, question: &str) -> Option<Box<RawValue>> {
        let mut answers = self.answers.borrow_mut();
        let answered = answers.iter_mut().find(|answered| answered.key == key && answered.question == question)?;
        answered.is_used = true;
        Some(answered.answer.clone())
    }

    /// Asks a question from `place`. An answer to another question of its key is forgotten, unless this round has used it.
    pub(super) fn ask(&self, key: String, question: Question, place: &str) {
        let (mut questions, mut answers) = (self.questions.borrow_mut(), self.answers.borrow_mut());
        let before = answers.len();
        answers.retain(|answered| answered.key != key || answered.is_used);
        if answers.len() < before {
            self.changed.borrow_mut().push(key.clone());
        }
        self.steps.borrow_mut().wait_at(place);
        match questions.get(&key) {
            Some(asked) if asked.digest != question.digest => {
                let conflict = format!("two questions have the key {key:?}: give each a key of its own");
                self.unsendable.replace(Some(Unsendable::Conflict(conflict)));
            }
            None if questions.len().saturating_add(answers.len()) >= QUESTIONS => {
                let excess = format!("it asks more than {QUESTIONS} questions");
                self.unsendable.replace(Some(Unsendable::Excess(excess)));
            }
            _ => drop(questions.insert(key, question)),
        }
    }

    /// Why the questions cannot be sent, if they cannot.
    pub(crate) fn unsendable(&self) -> Option<Unsendable> {
        let excess = || self.steps.borrow().excess().map(Unsendable::Excess);
        self.unsendable.borrow().clone().or_else(excess)
    }

    /// What the developer should know of the round: each line names a step or a key, and never a value.
    pub(super) fn warnings(&self) -> Vec<String> {
        let steps = self.steps.borrow();
        let changed_steps = steps.changed().map(|step| {
            format!("step `{step}` was run again: an earlier round of the call has finished it with another input")
        });
        let changed = self.changed.borrow();
        let questions = changed.iter().map(|key| {
            format!("question {key:?} was asked again: an earlier round of the call has asked another one by this key")
        });
        // Only a deadline ends a round in which steps are at work.
        let is_asking = self.has_questions();
        let at_work = steps.at_work().filter(|_| is_asking).map(|step| {
            format!("step `{step}` was broken off by the deadline while the call asks its client: it will run again")
        });
        changed_steps.chain(questions).chain(at_work).collect()
    }

    /// Whether a question is to be sent, and no step is running that could still finish.
    pub(super) fn is_round_over(&self) -> bool {
        self.has_questions() && self.steps.borrow().at_work().next().is_none()
    }
}

/// A step that is running. A round with a question elsewhere does not end before this is dropped.
pub(crate) struct Running {
    exchange: Rc<Exchange>,
    host: Rc<dyn Host>,
    run: usize,
    status: Status,
}

impl Running {
    /// Begins a step. After a question it waits for the end of the round instead.
    pub(super) async fn begin(exchange: &Rc<Exchange>, place: &str, step: &str, host: &Rc<dyn Host>) -> Self {
        if exchange.has_questions() {
            exchange.steps.borrow_mut().wait_at(place);
            std::future::pending::<()>().await;
        }
        let run = exchange.steps.borrow_mut().begin(place, step, host.now_ms());
        Self { exchange: exchange.clone(), host: host.clone(), run, status: Status::Failed }
    }

    /// Ends the step, which has a result.
    pub(super) fn succeed(mut self) {
        self.status = Status::Success;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.exchange.steps.borrow_mut().end(self.run, self.status, self.host.now_ms());
    }
}
