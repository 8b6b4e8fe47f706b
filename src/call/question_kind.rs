//! The kinds of questions to the client, with the needs of each.

use edge_json::object;
use serde_json::Value;

use super::session_required::{self, SessionRequired};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::task::EXTENSION;

#[derive(Debug)]
pub(crate) struct QuestionKind {
    /// The subject of the question, as the object of a sentence.
    subject: &'static str,
    /// The capability that the question needs, as words.
    words: &'static str,
    /// The capability that the question needs, as the names of nested members.
    capability: &'static [&'static str],
    /// Returns whether the client declares the capability.
    pub is_declared: fn(&ClientCapabilities) -> bool,
    /// The feature that needs a session in older revisions.
    pub session: SessionRequired,
}

const FORM_WORDS: &str = "form elicitation";
const FORM_CAPABILITY: &[&str] = &["elicitation", "form"];

pub(crate) const FORM: QuestionKind = QuestionKind {
    subject: "the answer of a person",
    words: FORM_WORDS,
    capability: FORM_CAPABILITY,
    is_declared: |client| client.elicitation_form,
    session: session_required::ELICITATION,
};
pub(crate) const CONFIRMATION: QuestionKind = QuestionKind { subject: "the confirmation of a person", ..FORM };
pub(crate) const APPROVAL: QuestionKind = QuestionKind { subject: "the approval of a person", ..FORM };
pub(crate) const URL: QuestionKind = QuestionKind {
    subject: "a person who opens a web page",
    words: "elicitation with URLs",
    capability: &["elicitation", "url"],
    is_declared: |client| client.elicitation_url,
    session: session_required::ELICITATION,
};
pub(crate) const SAMPLING: QuestionKind = QuestionKind {
    subject: "a text from the model of the client",
    words: "sampling",
    capability: &["sampling"],
    is_declared: |client| client.sampling,
    session: session_required::SAMPLING,
};
pub(crate) const ROOTS: QuestionKind = QuestionKind {
    subject: "the folders of the client",
    words: "roots",
    capability: &["roots"],
    is_declared: |client| client.roots,
    session: session_required::ROOTS,
};
/// A question of another server. The caller of the client has checked that its own client declares the capability.
pub(crate) const PASSED: QuestionKind = QuestionKind { is_declared: |_| true, ..FORM };

/// Not a question: a result that the client gets later.
pub(crate) const TASK: QuestionKind = QuestionKind {
    subject: "a client that waits for tasks",
    words: "tasks",
    capability: &["extensions", EXTENSION],
    is_declared: |_| false,
    session: session_required::TASKS,
};

impl QuestionKind {
    /// Returns the kind of a question of this server.
    pub(crate) fn of(question: &Value) -> &'static Self {
        let is_url = question.pointer("/params/mode").and_then(Value::as_str) == Some("url");
        match question.get("method").and_then(Value::as_str) {
            Some("sampling/createMessage") => &SAMPLING,
            Some("roots/list") => &ROOTS,
            _ if is_url => &URL,
            _ => &FORM,
        }
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
