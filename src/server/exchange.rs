//! Questions that a handler has for the client, and the answers that have come.
//!
//! In 2026-07-28 a question ends the call: its answer comes with the next one, in which the handler runs again from its
//! beginning, and finds it. Source: 2026-07-28, basic/patterns/mrtr.

use std::cell::{Cell, Ref, RefCell};
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::session_required::SessionRequired;
use super::workflow::FinishedSteps;
use crate::protocol::capabilities::ClientCapabilities;

/// The answers by the keys of their questions, each as JSON.
pub(crate) type Answers = BTreeMap<String, Box<RawValue>>;

/// What has been asked and answered in one request.
#[derive(Default)]
pub(crate) struct Exchange {
    pub capabilities: ClientCapabilities,
    answers: RefCell<Answers>,
    questions: RefCell<BTreeMap<String, serde_json::Value>>,
    state: RefCell<Option<Box<RawValue>>>,
    conflict: RefCell<Option<String>>,
    is_retry: Cell<bool>,
    is_private: Cell<bool>,
    steps: RefCell<FinishedSteps>,
    shows_run: Cell<bool>,
}

/// Why a question cannot be asked, or its answer not be taken.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum InputRefusal {
    /// The client speaks a revision in which it would need a session.
    SessionRequired(SessionRequired),
    /// The request does not declare what the question needs: capabilities, as the client would declare them.
    MissingCapability(serde_json::Value),
    /// The answer is not what was asked for. The text is for the caller.
    Malformed(String),
    /// The question is one that must not be asked. The text is for the log.
    Unaskable(String),
}

impl Exchange {
    pub(crate) fn new(capabilities: ClientCapabilities) -> Self {
        Self { capabilities, ..Self::default() }
    }

    /// Takes over what came with the request: the answers so far, the handler's own state, and the results of steps.
    pub(crate) fn resume(&self, answers: Answers, state: Option<Box<RawValue>>, steps: FinishedSteps) {
        self.answers.replace(answers);
        self.state.replace(state);
        self.steps.replace(steps);
        self.is_retry.set(true);
    }

    pub(crate) fn is_retry(&self) -> bool {
        self.is_retry.get()
    }

    pub(crate) fn answers(&self) -> Ref<'_, Answers> {
        self.answers.borrow()
    }

    pub(crate) fn state(&self) -> Ref<'_, Option<Box<RawValue>>> {
        self.state.borrow()
    }

    pub(crate) fn set_state(&self, state: Box<RawValue>) {
        self.state.replace(Some(state));
    }

    /// The results of a workflow's steps, and how far agents have come, of this round and of those before.
    pub(crate) fn steps(&self) -> Ref<'_, FinishedSteps> {
        self.steps.borrow()
    }

    /// Keeps the result of a step. What goes from step to step is nobody else's business.
    pub(crate) fn finish_step(&self, step: String, result: Box<RawValue>) {
        self.steps.borrow_mut().insert(step, result);
        self.make_private();
    }

    /// Forgets what was kept of a step, so that it is done anew where it is met again.
    pub(crate) fn forget_step(&self, step: &str) {
        // To take it out needs much code that nothing else needs.
        if let Some(kept) = self.steps.borrow_mut().get_mut(step) {
            *kept = RawValue::NULL.to_owned();
        }
    }

    /// The caller wants to see the run of a workflow.
    pub(crate) fn show_run(&self) {
        self.shows_run.set(true);
    }

    pub(crate) fn shows_run(&self) -> bool {
        self.shows_run.get()
    }

    /// From now on, only the server can read what the client carries.
    pub(crate) fn make_private(&self) {
        self.is_private.set(true);
    }

    pub(crate) fn is_private(&self) -> bool {
        self.is_private.get()
    }

    pub(crate) fn has_questions(&self) -> bool {
        !self.questions.borrow().is_empty()
    }

    pub(crate) fn questions(&self) -> Ref<'_, BTreeMap<String, serde_json::Value>> {
        self.questions.borrow()
    }

    pub(super) fn ask(&self, key: String, question: serde_json::Value) {
        let mut questions = self.questions.borrow_mut();
        if questions.get(&key).is_some_and(|asked| *asked != question) {
            self.conflict.replace(Some(format!("two questions have the key {key:?}")));
        }
        questions.insert(key, question);
    }

    /// Why the questions cannot be sent, if they cannot.
    pub(crate) fn conflict(&self) -> Option<String> {
        self.conflict.borrow().clone()
    }
}
