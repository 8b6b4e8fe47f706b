//! The needs of a call: an answer of its client to a question of some kind, or a client that waits for a task.

use edge_json::object;
use serde_json::Value;

use super::session_required::{self, SessionRequired};
use crate::protocol::capabilities::{ClientCapabilities, QuestionKind};
use crate::protocol::task::EXTENSION;

/// A need of a call.
#[derive(Debug)]
pub(crate) struct ClientNeed {
    /// The subject of the question, as the object of a sentence.
    subject: &'static str,
    /// The capability that the question needs, as words.
    words: &'static str,
    /// The capability that the question needs, as the names of nested members.
    capability: &'static [&'static str],
    /// The kind of the question. `None` if this program need not check whether the client declares the capability.
    kind: Option<QuestionKind>,
    /// The feature that needs a session in older revisions.
    pub session: SessionRequired,
}

const FORM_WORDS: &str = "form elicitation";
const FORM_CAPABILITY: &[&str] = &["elicitation", "form"];

pub(crate) const FORM: ClientNeed = ClientNeed {
    subject: "the answer of a person",
    words: FORM_WORDS,
    capability: FORM_CAPABILITY,
    kind: Some(QuestionKind::Form),
    session: session_required::ELICITATION,
};
pub(crate) const CONFIRMATION: ClientNeed = ClientNeed { subject: "the confirmation of a person", ..FORM };
pub(crate) const APPROVAL: ClientNeed = ClientNeed { subject: "the approval of a person", ..FORM };
pub(crate) const URL: ClientNeed = ClientNeed {
    subject: "a person who opens a web page",
    words: "elicitation with URLs",
    capability: &["elicitation", "url"],
    kind: Some(QuestionKind::Url),
    session: session_required::ELICITATION,
};
pub(crate) const SAMPLING: ClientNeed = ClientNeed {
    subject: "a text from the model of the client",
    words: "sampling",
    capability: &["sampling"],
    kind: Some(QuestionKind::Sampling),
    session: session_required::SAMPLING,
};
pub(crate) const ROOTS: ClientNeed = ClientNeed {
    subject: "the folders of the client",
    words: "roots",
    capability: &["roots"],
    kind: Some(QuestionKind::Roots),
    session: session_required::ROOTS,
};
/// A question of another server. The caller of the client has checked that its own client declares the capability.
pub(crate) const PASSED: ClientNeed = ClientNeed { kind: None, ..FORM };

/// Not a question: a result that the client gets later.
pub(crate) const TASK: ClientNeed = ClientNeed {
    subject: "a client that waits for tasks",
    words: "tasks",
    capability: &["extensions", EXTENSION],
    kind: None,
    session: session_required::TASKS,
};

impl ClientNeed {
    /// Returns the need of a question of this server.
    pub(crate) fn of(question: &Value) -> &'static Self {
        let text = |pointer: &str| question.pointer(pointer).and_then(Value::as_str);
        match QuestionKind::of(text("/method").unwrap_or_default(), text("/params/mode")) {
            Some(QuestionKind::Sampling) => &SAMPLING,
            Some(QuestionKind::Roots) => &ROOTS,
            Some(QuestionKind::Url) => &URL,
            Some(QuestionKind::Form) | None => &FORM,
        }
    }

    /// Returns whether a client with these capabilities can be asked.
    pub(crate) fn is_declared(&self, capabilities: ClientCapabilities) -> bool {
        self.kind.is_none_or(|kind| kind.is_declared(capabilities))
    }

    /// Returns the sentence for the caller if the client cannot be asked. `call` is the subject of the sentence, and `undone` is the work
    /// that was not done.
    pub(crate) fn unasked(&self, call: &str, undone: &str) -> String {
        let Self { subject, words, .. } = self;
        format!(
            "{call} needs {subject}, and the client cannot be asked. {undone} was done. \
             Use a client of 2026-07-28 that declares {words}."
        )
    }

    /// Returns the declaration of the capability, as in a request.
    pub(crate) fn declaration(&self) -> Value {
        self.capability.iter().rev().fold(object(Vec::new()), |inner, name| object(vec![(name, inner)]))
    }
}
