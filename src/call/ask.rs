//! Asking the client: for a form to be filled in, a page to be opened, a text to be written, the folders it works in.
//!
//! A handler is written straight through: it asks, and goes on with the answer. Where the answer has not come yet, the
//! handler ends there, the question is sent, and the client's next request runs the handler again from its beginning, with
//! the answer at hand. What comes before a question is therefore done again: it should be cheap, and change nothing.
//! Several questions are asked in one round by `futures::join!`. An answer belongs to its question, so a question must be the same in
//! each round: one with another text is asked again.
//!
//! Source: 2026-07-28, basic/patterns/mrtr, client/elicitation, client/sampling, client/roots. In older revisions each would
//! need a session: see [`SessionRequired`].

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::context::Context;
use super::exchange::Question;
use super::input_error::{InputError, InputProblem};
use super::session_required::SessionRequired;
use crate::json::deserialize::read_text;
use crate::json::{Document, JsonLimits};
use crate::protocol::content::PromptMessage;
use crate::protocol::description::Text;
use crate::protocol::revision::Era;
use crate::schema::Schema;

/// What a person made of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Elicited<T> {
    /// They answered.
    Accepted(T),
    /// They do not want to.
    Declined,
    /// They went away from it.
    Cancelled,
}

impl<T> Elicited<T> {
    /// The answer, if there is one.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accepted(answer) => Some(answer),
            Self::Declined | Self::Cancelled => None,
        }
    }
}

/// A request for a text that the client's model writes.
#[derive(Clone, Debug)]
pub struct Sampling {
    messages: Vec<PromptMessage>,
    max_tokens: u32,
    system_prompt: Option<Text>,
}

impl Sampling {
    /// At most `max_tokens` tokens.
    pub fn new(max_tokens: u32) -> Self {
        Self { messages: Vec::new(), max_tokens, system_prompt: None }
    }

    /// Adds a message of the conversation that the text is to continue.
    #[must_use]
    pub fn message(mut self, message: PromptMessage) -> Self {
        self.messages.push(message);
        self
    }

    /// What the model is to be told beforehand.
    #[must_use]
    pub fn system_prompt(mut self, prompt: impl Into<Text>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }
}

/// A text that the client's model has written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// The text.
    pub text: String,
    /// The model that wrote it.
    pub model: String,
    /// Why it stopped, such as `endTurn`.
    pub stop_reason: Option<String>,
}

/// A folder that the client works in.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Root {
    /// A `file:` URI.
    pub uri: String,
    /// For people.
    pub name: Option<String>,
}

impl Context {
    /// Asks the person for a `T`, with a form that has its fields.
    ///
    /// `T` is a flat struct of strings, numbers, booleans, unit enums and `Option`s of them; `key` tells the question from the
    /// others of this call. No secret may be asked for in this way: see [`elicit_url`](Self::elicit_url).
    ///
    /// # Errors
    /// [`InputError`]: the client cannot be asked, or its answer does not fit `T`.
    pub async fn elicit<T>(&self, key: impl Into<String>, message: impl Into<Text>) -> Result<Elicited<T>, InputError>
    where
        T: JsonSchema + DeserializeOwned + 'static,
    {
        let key = key.into();
        let schema = Schema::of_object::<T>().map_err(|error| error.to_string());
        let schema = schema.and_then(|schema| Ok((schema.form()?, schema)));
        let (form, schema) = schema.map_err(|problem| InputError(InputProblem::Forbidden(problem)))?;
        let params = json!({ "mode": "form", "message": message.into(), "requestedSchema": form });
        let question = json!({ "method": "elicitation/create", "params": params });
        let declared = self.exchange().capabilities.elicitation_form;
        let needs = (declared, json!({ "elicitation": { "form": {} } }), SessionRequired::Elicitation);
        let (key, answer) = self.answer(&key, question, needs).await?;
        elicited(&key, answer.get(), |content| {
            let content = content.ok_or("its `content` is missing")?;
            let document =
                Document::parse(content.get().as_bytes(), JsonLimits::default()).map_err(|e| e.to_string())?;
            let mistakes = schema.validate_with_formats(document.root());
            if !mistakes.is_empty() {
                return Err(mistakes.join("; "));
            }
            crate::call::handler::read(document.root())
        })
    }

    /// Asks the person to open a page, where they can give what must not pass through the client.
    ///
    /// [`Elicited::Accepted`] means that they agreed to open it, not that they are done there: look for the outcome in your
    /// own records, and ask again if it is not there. The URL must hold nothing personal and grant nothing by itself.
    ///
    /// # Errors
    /// [`InputError`]
    pub async fn elicit_url(
        &self,
        key: impl Into<String>,
        message: impl Into<Text>,
        url: impl Into<Text>,
    ) -> Result<Elicited<()>, InputError> {
        let key = key.into();
        let params = json!({ "mode": "url", "message": message.into(), "url": url.into() });
        let question = json!({ "method": "elicitation/create", "params": params });
        let declared = self.exchange().capabilities.elicitation_url;
        let needs = (declared, json!({ "elicitation": { "url": {} } }), SessionRequired::Elicitation);
        let (key, answer) = self.answer(&key, question, needs).await?;
        elicited(&key, answer.get(), |_| Ok(()))
    }

    /// Asks the client's model for a text.
    ///
    /// # Errors
    /// [`InputError`]
    pub async fn sample(&self, key: impl Into<String>, request: Sampling) -> Result<Sampled, InputError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Answer {
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
        let mut params = json!({ "messages": messages, "maxTokens": max_tokens });
        if let (Some(prompt), Some(params)) = (system_prompt, params.as_object_mut()) {
            params.insert("systemPrompt".into(), json!(prompt));
        }
        let question = json!({ "method": "sampling/createMessage", "params": params });
        let needs = (self.exchange().capabilities.sampling, json!({ "sampling": {} }), SessionRequired::Sampling);
        let (key, answer) = self.answer(&key, question, needs).await?;
        let Answer { content, model, stop_reason } = parse(&key, answer.get(), "a message of text")?;
        Ok(Sampled { text: content.text, model, stop_reason })
    }

    /// Asks the client for the folders that it works in.
    ///
    /// # Errors
    /// [`InputError`]
    pub async fn roots(&self, key: impl Into<String>) -> Result<Vec<Root>, InputError> {
        #[derive(Deserialize)]
        struct Answer {
            roots: Vec<Root>,
        }
        let key = key.into();
        let question = json!({ "method": "roots/list", "params": {} });
        let needs = (self.exchange().capabilities.roots, json!({ "roots": {} }), SessionRequired::Roots);
        let (key, answer) = self.answer(&key, question, needs).await?;
        parse(&key, answer.get(), "a list of roots").map(|Answer { roots }| roots)
    }

    /// Asks the person to confirm `message`. Returns the answer if it has come with this round.
    pub(crate) fn confirm_now(&self, key: &str, message: &str) -> Result<Option<Elicited<()>>, InputError> {
        let schema = json!({ "type": "object", "properties": {} });
        let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
        let question = json!({ "method": "elicitation/create", "params": params });
        let declared = self.exchange().capabilities.elicitation_form;
        let needs = (declared, json!({ "elicitation": { "form": {} } }), SessionRequired::Elicitation);
        let answer = self.answer_now(key, question, needs)?;
        answer.map(|(key, answer)| elicited(&key, answer.get(), |_| Ok(()))).transpose()
    }

    /// Returns the answer to a question, and the key under which the client has given it. Without an answer in this round, the handler
    /// ends here.
    async fn answer(
        &self,
        key: &str,
        question: Value,
        needs: (bool, Value, SessionRequired),
    ) -> Result<(String, Box<RawValue>), InputError> {
        match self.answer_now(key, question, needs)? {
            Some(answer) => Ok(answer),
            None => std::future::pending().await,
        }
    }

    /// Returns the answer to a question if it has come. If not, the question is sent when the round ends.
    fn answer_now(
        &self,
        key: &str,
        question: Value,
        (declared, needed, session): (bool, Value, SessionRequired),
    ) -> Result<Option<(String, Box<RawValue>)>, InputError> {
        if self.revision().era() == Era::Legacy {
            return Err(InputError(InputProblem::SessionRequired(session)));
        }
        let path = self.path();
        let Some(key) = path.question_key(key) else {
            let problem =
                format!("a question has the key {key:?}, which has the form of a nested call's: choose another");
            return Err(InputError(InputProblem::Forbidden(problem)));
        };
        let digest = path.question(&question);
        if let Some(answer) = self.exchange().answer(&key, &digest) {
            return Ok(Some((key, answer)));
        }
        if !declared {
            return Err(InputError(InputProblem::MissingCapability(needed)));
        }
        self.exchange().ask(key, Question { digest, request: question }, path.place());
        Ok(None)
    }
}

fn malformed(key: &str, problem: &str) -> InputError {
    InputError(InputProblem::Malformed(format!(
        "`params.inputResponses` has an answer {key:?} that cannot be taken: {problem}"
    )))
}

fn parse<T: DeserializeOwned>(key: &str, answer: &str, expected: &str) -> Result<T, InputError> {
    read_text(answer.as_bytes()).ok_or_else(|| malformed(key, &format!("it is not {expected}")))
}

fn elicited<T>(
    key: &str,
    answer: &str,
    read: impl FnOnce(Option<&RawValue>) -> Result<T, String>,
) -> Result<Elicited<T>, InputError> {
    #[derive(Deserialize)]
    struct Answer {
        action: String,
        content: Option<Box<RawValue>>,
    }
    let Answer { action, content } = parse(key, answer, "an object with `action`")?;
    match action.as_str() {
        "accept" => read(content.as_deref()).map(Elicited::Accepted).map_err(|problem| malformed(key, &problem)),
        "decline" => Ok(Elicited::Declined),
        "cancel" => Ok(Elicited::Cancelled),
        _ => Err(malformed(key, "its `action` is not \"accept\", \"decline\" or \"cancel\"")),
    }
}
