//! Questions to the client: the common part of elicitation, sampling and roots.
//!
//! A handler asks a question, and continues with the answer. If the answer has not arrived, the round ends and the
//! question is sent. The client's next request runs the handler again from its beginning, and now the answer is
//! available. So code before a question runs once per round. It should be cheap and free of side effects.
//!
//! `futures::join!` asks several questions in one round. An answer is bound to its question, so a question must be the
//! same in each round. A question that changes is asked again.
//!
//! Source: 2026-07-28, basic/patterns/mrtr. Older revisions would need a session for each question: see
//! [`SessionRequired`](super::session_required::SessionRequired).

use edge_json::deserialize::read_text;
use edge_json::object;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::client_need::{ClientNeed, PASSED};
use super::context::Context;
use super::input_error::{InputError, InputProblem};
use super::rounds::OpenQuestion;
use crate::protocol::revision::Era;

impl Context {
    /// Returns the answer to a question, and the key under which the client gave it. If the answer has not arrived, the
    /// future stays pending and the round ends.
    pub(super) async fn answer(
        &self,
        key: &str,
        question: Value,
        kind: &'static ClientNeed,
    ) -> Result<(String, Box<RawValue>), InputError> {
        match self.answer_now(key, question, kind)? {
            Some(answer) => Ok(answer),
            None => std::future::pending().await,
        }
    }

    /// Returns the answer to a question if it has arrived. Otherwise the question is sent at the end of the round.
    fn answer_now(
        &self,
        key: &str,
        question: Value,
        kind: &'static ClientNeed,
    ) -> Result<Option<(String, Box<RawValue>)>, InputError> {
        if self.revision().era() == Era::Legacy {
            return Err(InputProblem::SessionRequired(kind).into());
        }
        let path = self.path();
        let Some(key) = path.question_key(key) else {
            let problem = format!("the question key {key:?} has the form of a nested call's key: choose another key");
            return Err(InputProblem::Forbidden(problem).into());
        };
        let digest = path.question(&question);
        if let Some(answer) = self.rounds().answer(&key, &digest) {
            return Ok(Some((key, answer)));
        }
        if !kind.is_declared(self.rounds().capabilities) {
            return Err(InputProblem::MissingCapability(kind).into());
        }
        self.rounds().ask(key, OpenQuestion { digest, request: question }, path.place());
        Ok(None)
    }

    /// Asks the client a question of another server. Returns the answer as the client sent it.
    ///
    /// The caller of this function has checked that the client declares the capability that the question needs.
    pub(crate) async fn pass_question(&self, key: &str, question: Value) -> Result<Box<RawValue>, InputError> {
        self.answer(key, question, &PASSED).await.map(|(_, answer)| answer)
    }

    /// Asks the client a question of a durable task. Returns the answer as the client sent it.
    pub(crate) async fn relay_question(&self, key: &str, question: Value) -> Result<Box<RawValue>, InputError> {
        let kind = ClientNeed::of(&question);
        self.answer(key, question, kind).await.map(|(_, answer)| answer)
    }
}

/// Creates a question: the request that the client answers.
pub(super) fn question(method: &str, params: Vec<(&str, Value)>) -> Value {
    object(vec![("method", method.into()), ("params", object(params))])
}

pub(super) fn malformed(key: &str, problem: &str) -> InputError {
    InputError::from(InputProblem::Malformed(format!(
        "The answer {key:?} in `params.inputResponses` is not valid: {problem}."
    )))
}

pub(super) fn parse<T: DeserializeOwned>(key: &str, answer: &str, expected: &str) -> Result<T, InputError> {
    read_text(answer.as_bytes()).ok_or_else(|| malformed(key, &format!("it is not {expected}")))
}
