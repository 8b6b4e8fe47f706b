//! Questions of other servers and of durable tasks that are passed to the client.

use serde_json::Value;
use serde_json::value::RawValue;

use super::client_need::{ClientNeed, PASSED};
use super::context::Context;
use super::input_error::InputError;

impl Context {
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
