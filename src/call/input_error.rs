//! The error of a question that cannot be asked, or of an answer that does not fit its question.

use std::error::Error;
use std::fmt;

use super::question_kind::QuestionKind;
use crate::protocol::error::RpcError;

/// The error of a question to the client: the client cannot be asked, or its answer does not fit the question.
///
/// If a handler returns it with `?`, the caller gets a sentence that describes the problem, and
/// [`message`](crate::ResultExt::message) replaces the sentence. A handler that can work without the answer may also continue.
#[derive(Clone, Debug)]
pub struct InputError(pub(crate) Box<InputProblem>);

/// The reason why a question cannot be asked, or why its answer cannot be used.
#[derive(Clone, Debug)]
pub(crate) enum InputProblem {
    /// The client uses a revision in which the question would need a session.
    SessionRequired(&'static QuestionKind),
    /// The request does not declare the capability that the question needs.
    MissingCapability(&'static QuestionKind),
    /// The answer does not fit the question. The text is for the caller.
    Malformed(String),
    /// The question is not allowed. The text is for the log.
    Forbidden(String),
    /// The durable task that would have asked has failed, with this error of the protocol.
    TaskFailed(RpcError),
}

impl From<InputProblem> for InputError {
    fn from(problem: InputProblem) -> Self {
        Self(Box::new(problem))
    }
}

impl InputError {
    /// Returns `error`, if it is an `InputError`.
    pub(crate) fn find(error: &(dyn Error + 'static)) -> Option<Self> {
        error.downcast_ref::<Self>().cloned()
    }

    /// Returns whether the client cannot be asked. If it returns `false`, the client's answer is malformed, or the question is not allowed.
    pub fn is_unasked(&self) -> bool {
        matches!(*self.0, InputProblem::SessionRequired(_) | InputProblem::MissingCapability(_))
    }

    /// Returns whether the question needs a session, because the client uses an older revision.
    pub fn needs_session(&self) -> bool {
        matches!(*self.0, InputProblem::SessionRequired(_))
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            InputProblem::SessionRequired(kind) | InputProblem::MissingCapability(kind) => {
                f.write_str(&kind.unasked("This call", "Nothing that depends on it"))
            }
            InputProblem::Malformed(problem) | InputProblem::Forbidden(problem) => f.write_str(problem),
            InputProblem::TaskFailed(error) => f.write_str(&error.message),
        }
    }
}

impl Error for InputError {}
