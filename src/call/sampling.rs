//! Sampling: texts that the model of the client generates.
//!
//! Source: 2026-07-28, client/sampling.

use serde::Deserialize;
use serde_json::json;

use super::ask::{parse, question};
use super::client_need::SAMPLING;
use super::context::Context;
use super::input_error::InputError;
use crate::protocol::content::PromptMessage;
use crate::text::Text;

/// A request for a text from the model of the client.
///
/// Revision 2026-07-28 of the protocol deprecates sampling. A revision from 2027-07-28 on can remove it. Call a model yourself instead, for
/// example with [`ChatAgent`](crate::agents::ChatAgent).
#[derive(Clone, Debug)]
#[must_use]
pub struct Sampling {
    messages: Vec<PromptMessage>,
    max_tokens: u32,
    system_prompt: Option<Text>,
}

impl Sampling {
    /// Creates a request for a text of at most `max_tokens` tokens.
    pub fn new(max_tokens: u32) -> Self {
        Self { messages: Vec::new(), max_tokens, system_prompt: None }
    }

    /// Adds a message to the conversation that the model continues.
    pub fn message(mut self, message: PromptMessage) -> Self {
        self.messages.push(message);
        self
    }

    /// Sets the system prompt.
    pub fn system_prompt(mut self, prompt: impl Into<Text>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }
}

/// A text that the model of the client generated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelAnswer {
    /// The text.
    pub text: String,
    /// The name of the model.
    pub model: String,
    /// The stop reason, such as `endTurn`.
    pub stop_reason: Option<String>,
}

impl Context {
    /// Asks the model of the client for a text. `key` identifies the question within the call.
    ///
    /// Revision 2026-07-28 of the protocol deprecates sampling: see [`Sampling`].
    ///
    /// # Errors
    /// [`InputError`]: the client does not declare sampling, or its answer is malformed.
    pub async fn sample(&self, key: impl Into<String>, request: Sampling) -> Result<ModelAnswer, InputError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct CreateMessageResult {
            content: Block,
            model: String,
            stop_reason: Option<String>,
        }
        #[derive(Deserialize)]
        struct Block {
            text: String,
        }
        let key = key.into();
        let Sampling { messages, max_tokens, system_prompt } = request;
        let mut params = vec![("messages", json!(messages)), ("maxTokens", max_tokens.into())];
        params.extend(system_prompt.map(|prompt| ("systemPrompt", prompt.into())));
        let (key, answer) = self.answer(&key, question("sampling/createMessage", params), &SAMPLING).await?;
        let CreateMessageResult { content, model, stop_reason } = parse(&key, answer.get(), "a message of text")?;
        Ok(ModelAnswer { text: content.text, model, stop_reason })
    }
}
