//! Elicitation: questions that the client shows to a person.
//!
//! Source: 2026-07-28, client/elicitation.

use edge_json::{Document, JsonLimits, Value};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;

use super::ask::{malformed, parse, question};
use super::context::Context;
use super::handler;
use super::input_error::{InputError, InputProblem};
use super::question_kind::{CONFIRMATION, FORM, URL};
use crate::schema::{HasJsonSchema, Schema};
use crate::text::Text;

/// The outcome of an elicitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormAnswer<T> {
    /// The person submitted the form, or agreed to open the URL.
    Accepted(T),
    /// The person declined.
    Declined,
    /// The person dismissed the question without an answer.
    Cancelled,
}

impl<T> FormAnswer<T> {
    /// Returns the answer, if the person gave one.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accepted(answer) => Some(answer),
            Self::Declined | Self::Cancelled => None,
        }
    }
}

impl Context {
    /// Asks the person for a `T`, with a form that has the fields of `T`.
    ///
    /// `T` is a flat struct of strings, numbers, booleans, unit enums and `Option`s of them. `key` identifies the
    /// question within the call. Do not ask for secrets in a form: use [`elicit_url`](Self::elicit_url).
    ///
    /// # Errors
    /// [`InputError`]: the client does not support forms, its answer does not fit `T`, or `T` cannot be a form.
    pub async fn elicit<T>(&self, key: impl Into<String>, message: impl Into<Text>) -> Result<FormAnswer<T>, InputError>
    where
        T: HasJsonSchema + DeserializeOwned + 'static,
    {
        let schema = Schema::of_object::<T>().map_err(|error| error.to_string());
        let schema = schema.and_then(|schema| Ok((schema.form()?, schema)));
        let (form, schema) = schema.map_err(|problem| InputError::from(InputProblem::Forbidden(problem)))?;
        self.fill_in(&key.into(), form_question(&message.into(), form), &schema, handler::read).await
    }

    /// Asks the person to fill in a form whose schema the program makes while it runs. The answer is an object with the fields of the form. For
    /// a form that is known in advance, use [`elicit`](Self::elicit).
    ///
    /// `form` is a JSON Schema within the subset of the protocol: an object with `properties` and `required`, whose fields are strings, numbers,
    /// integers, booleans, or choices (`enum`, or `oneOf` with `const` and `title`; in an `array`, the `items` have `enum` or `anyOf`).
    ///
    /// # Errors
    /// [`InputError`]: the client does not support forms, its answer does not fit the form, or `form` is outside the subset. The log then names
    /// the field.
    ///
    /// ```
    /// use edge_mcp::{Context, HandlerError};
    /// use serde_json::json;
    ///
    /// async fn choose(rooms: Vec<String>, cx: Context) -> Result<String, HandlerError> {
    ///     let room = json!({ "type": "string", "title": "Room", "enum": rooms });
    ///     let form = json!({ "type": "object", "properties": { "room": room }, "required": ["room"] });
    ///     let answer = cx.elicit_form("room", "Which room?", &form).await?.accepted();
    ///     Ok(answer.map_or("No room.".to_owned(), |answer| format!("Room {}.", answer["room"])))
    /// }
    /// ```
    pub async fn elicit_form(
        &self,
        key: impl Into<String>,
        message: impl Into<Text>,
        form: &serde_json::Value,
    ) -> Result<FormAnswer<serde_json::Value>, InputError> {
        let schema = Schema::of_own_form(form).map_err(|problem| InputError::from(InputProblem::Forbidden(problem)))?;
        let read = |content: Value<'_>| content.to_json().ok_or_else(|| "a number is out of range".to_owned());
        self.fill_in(&key.into(), form_question(&message.into(), form.clone()), &schema, read).await
    }

    /// Asks the question, checks the fields of the answer against the schema of the form, and reads them.
    async fn fill_in<T>(
        &self,
        key: &str,
        question: serde_json::Value,
        schema: &Schema,
        read: impl FnOnce(Value<'_>) -> Result<T, String>,
    ) -> Result<FormAnswer<T>, InputError> {
        let (key, answer) = self.answer(key, question, &FORM).await?;
        elicited(&key, answer.get(), |content| {
            let content = content.ok_or("its `content` is missing")?;
            let document =
                Document::parse(content.get().as_bytes(), JsonLimits::default()).map_err(|e| e.to_string())?;
            // The form does not forbid other members, and some clients send them.
            let known = schema.form_members(document.root());
            let document = Document::parse(known.as_bytes(), JsonLimits::MOST).map_err(|error| error.to_string())?;
            let mistakes = schema.validate_form(document.root(), self.request().argument_steps());
            if !mistakes.is_empty() {
                return Err(mistakes.join("; "));
            }
            read(document.root())
        })
    }

    /// Asks the person to open a URL, for data that must not pass through the client.
    ///
    /// [`FormAnswer::Accepted`] means that the person agreed to open the URL, not that they have finished there. Look up
    /// the outcome in your own records, and ask again if it is missing. The URL must not contain personal data, and
    /// must not grant access by itself.
    ///
    /// # Errors
    /// [`InputError`]: the client does not support elicitation with a URL, or its answer is malformed.
    pub async fn elicit_url(
        &self,
        key: impl Into<String>,
        message: impl Into<Text>,
        url: impl Into<Text>,
    ) -> Result<FormAnswer<()>, InputError> {
        let key = key.into();
        let (message, url) = (message.into(), url.into());
        let params = vec![("mode", "url".into()), ("message", message.into()), ("url", url.into())];
        let (key, answer) = self.answer(&key, question("elicitation/create", params), &URL).await?;
        elicited(&key, answer.get(), |_| Ok(()))
    }

    /// Asks the person to confirm `question`. Returns `true` if the person confirms it, and `false` if the person declines or
    /// closes the question.
    ///
    /// # Errors
    /// [`InputError`]: the client does not support forms, or its answer is malformed.
    ///
    /// ```
    /// use edge_mcp::{Context, HandlerError};
    ///
    /// async fn clear(cx: Context) -> Result<&'static str, HandlerError> {
    ///     Ok(if cx.confirm("clear", "Delete all parcels?").await? { "Deleted." } else { "Nothing was deleted." })
    /// }
    /// ```
    pub async fn confirm(&self, key: &str, question: &str) -> Result<bool, InputError> {
        let form = json!({ "type": "object", "properties": {} });
        let (key, answer) = self.answer(key, form_question(question, form), &CONFIRMATION).await?;
        Ok(elicited(&key, answer.get(), |_| Ok(()))?.accepted().is_some())
    }
}

fn form_question(message: &str, form: serde_json::Value) -> serde_json::Value {
    let params = vec![("mode", "form".into()), ("message", message.into()), ("requestedSchema", form)];
    question("elicitation/create", params)
}

fn elicited<T>(
    key: &str,
    answer: &str,
    read: impl FnOnce(Option<&RawValue>) -> Result<T, String>,
) -> Result<FormAnswer<T>, InputError> {
    #[derive(Deserialize)]
    struct ElicitResult {
        action: String,
        content: Option<Box<RawValue>>,
    }
    let ElicitResult { action, content } = parse(key, answer, "an object with `action`")?;
    match action.as_str() {
        "accept" => read(content.as_deref()).map(FormAnswer::Accepted).map_err(|problem| malformed(key, &problem)),
        "decline" => Ok(FormAnswer::Declined),
        "cancel" => Ok(FormAnswer::Cancelled),
        _ => Err(malformed(key, "its `action` is not \"accept\", \"decline\" or \"cancel\"")),
    }
}
