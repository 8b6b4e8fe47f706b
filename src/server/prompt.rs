//! Prompts and their versions.

use std::marker::PhantomData;
use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::{Map, Value};

use super::access::{Access, access_methods};
use super::completion::{Completion, Completions};
use crate::call::context::Context;
use crate::call::deadline::{DEADLINE, deadline_method};
use crate::call::error::{HandlerError, IntoHandlerError};
use crate::call::handler::{Handler, Parameters, read};
use crate::protocol::content::PromptMessage;
use crate::protocol::description::{Metadata, PromptArgument, description_method, metadata_methods};
use crate::schema::{HasJsonSchema, Schema, SchemaError};
use crate::text::Text;

/// The messages of a prompt, with an optional description.
#[derive(Clone, Debug)]
#[must_use]
pub struct PromptResult {
    pub(crate) description: Option<Text>,
    pub(crate) messages: Vec<PromptMessage>,
    /// The `_meta` of the result of another server.
    pub(crate) meta: Option<Map<String, Value>>,
}

impl PromptResult {
    /// Creates a result with these messages.
    pub fn new(messages: impl IntoIterator<Item = PromptMessage>) -> Self {
        Self { description: None, messages: messages.into_iter().collect(), meta: None }
    }

    /// Sets the description of the messages. The default is the description of the prompt.
    pub fn description(mut self, description: impl Into<Text>) -> Self {
        self.description = Some(description.into());
        self
    }
}

/// The types that a prompt's handler may return.
///
/// | returned | the caller gets |
/// |---|---|
/// | `String`, `&'static str` | one user message |
/// | [`PromptMessage`], `Vec<PromptMessage>` | these messages |
/// | [`PromptResult`] | these messages, with their own description |
/// | `Result<one of them, E>` | these messages, or an error; its cause is logged |
#[diagnostic::on_unimplemented(
    message = "a prompt cannot return `{Self}`",
    label = "the handler must return text, `PromptMessage`, `Vec<PromptMessage>`, `PromptResult` or a `Result` of one of them",
    note = "make a message from a text with `PromptMessage::user(text)` or `PromptMessage::assistant(text)`"
)]
pub trait IntoPromptResult {
    /// Converts the value into a result.
    ///
    /// # Errors
    /// The handler's own error.
    fn into_prompt_result(self) -> Result<PromptResult, HandlerError>;
}

impl IntoPromptResult for PromptResult {
    fn into_prompt_result(self) -> Result<PromptResult, HandlerError> {
        Ok(self)
    }
}

impl IntoPromptResult for Vec<PromptMessage> {
    fn into_prompt_result(self) -> Result<PromptResult, HandlerError> {
        Ok(PromptResult::new(self))
    }
}

impl IntoPromptResult for PromptMessage {
    fn into_prompt_result(self) -> Result<PromptResult, HandlerError> {
        Ok(PromptResult::new([self]))
    }
}

impl IntoPromptResult for String {
    fn into_prompt_result(self) -> Result<PromptResult, HandlerError> {
        PromptMessage::user(self).into_prompt_result()
    }
}

impl IntoPromptResult for &'static str {
    fn into_prompt_result(self) -> Result<PromptResult, HandlerError> {
        PromptMessage::user(self).into_prompt_result()
    }
}

impl<R: IntoPromptResult, E: IntoHandlerError> IntoPromptResult for Result<R, E> {
    fn into_prompt_result(self) -> Result<PromptResult, HandlerError> {
        self.map_err(E::into_handler_error)?.into_prompt_result()
    }
}

pub(crate) type PromptFuture = LocalBoxFuture<'static, Result<PromptResult, HandlerError>>;

/// A handler with erased types, so that a server can hold handlers of different types.
pub(crate) trait AnyPromptHandler {
    fn schema(&self) -> Result<Rc<Schema>, SchemaError>;
    /// Calls the handler. The error names the arguments that its type rejects.
    fn call(&self, arguments: edge_json::Value<'_>, cx: Context) -> Result<PromptFuture, String>;
}

struct TypedPrompt<H, P>(H, PhantomData<P>);

impl<P, H> AnyPromptHandler for TypedPrompt<H, P>
where
    P: Parameters<Arguments: HasJsonSchema>,
    H: Handler<P, Output: IntoPromptResult>,
{
    fn schema(&self) -> Result<Rc<Schema>, SchemaError> {
        Schema::of_object::<P::Arguments>()
    }

    fn call(&self, arguments: edge_json::Value<'_>, cx: Context) -> Result<PromptFuture, String> {
        let arguments = read(arguments)?;
        Ok(self.0.call(P::of_call(arguments, cx)).map(IntoPromptResult::into_prompt_result).boxed_local())
    }
}

/// A prompt: a name, a description, and the handler that returns its messages.
///
/// ```
/// use edge_mcp::{Completion, Prompt, PromptMessage};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Review {
///     /// The code to review
///     code: String,
///     /// The programming language of the code
///     language: Option<String>,
/// }
///
/// async fn review(Review { code, language }: Review) -> PromptMessage {
///     PromptMessage::user(format!("Review this {} code:\n{code}", language.as_deref().unwrap_or("")))
/// }
///
/// let prompt = Prompt::new("review", review)
///     .version("v2")
///     .title("Code review")
///     .description("Asks for a review of code.")
///     .complete("language", Completion::prefix(["Python", "Rust"]));
/// ```
#[must_use]
pub struct Prompt {
    pub(crate) metadata: Metadata,
    pub(crate) version: Option<Text>,
    pub(crate) access: Access,
    pub(crate) completions: Completions,
    pub(crate) deadline: Duration,
    pub(crate) handler: Box<dyn AnyPromptHandler>,
    declared: Vec<PromptArgument>,
}

impl Prompt {
    /// Creates the prompt `name`. The name has 1 to 64 characters of `A-Z a-z 0-9 _ . -`.
    ///
    /// Clients send arguments as strings. The handler takes them as a struct, whose fields may also be numbers,
    /// booleans or unit enums. It may also take a `BTreeMap<String, String>`. In that case, declare each argument with
    /// [`argument`](Self::argument).
    pub fn new<P, H>(name: impl Into<Text>, handler: H) -> Self
    where
        P: Parameters<Arguments: HasJsonSchema>,
        H: Handler<P, Output: IntoPromptResult>,
    {
        Self::of_handler(name.into(), Box::new(TypedPrompt(handler, PhantomData)))
    }

    pub(crate) fn of_handler(name: Text, handler: Box<dyn AnyPromptHandler>) -> Self {
        Self {
            metadata: Metadata::new(name),
            version: None,
            access: Access::default(),
            completions: Completions::default(),
            deadline: DEADLINE,
            handler,
            declared: Vec::new(),
        }
    }

    metadata_methods!(metadata);
    description_method!(metadata);
    access_methods!();
    deadline_method!();

    /// Sets the version, which can have the same characters as a name. Prompts with the same name must have different versions.
    /// A caller that does not name a version gets the version that was added last.
    pub fn version(mut self, version: impl Into<Text>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Declares an argument, for a handler that takes a map. If the handler takes a struct with a field of this name,
    /// the title and description given here are used for that field.
    pub fn argument(mut self, argument: PromptArgument) -> Self {
        self.declared.push(argument);
        self
    }

    /// Sets the completion of an argument.
    pub fn complete(mut self, argument: impl Into<Text>, completion: Completion) -> Self {
        self.completions.add(argument.into(), completion);
        self
    }

    /// Returns the first argument of the handler's struct whose type cannot be read from a string.
    pub(crate) fn non_scalar_argument(&self) -> Option<String> {
        self.handler.schema().ok()?.non_scalar_property().map(str::to_owned)
    }

    /// Returns the arguments: the fields of the handler's struct, and the declared arguments.
    pub(crate) fn arguments(&self) -> Result<Vec<PromptArgument>, SchemaError> {
        let mut arguments = self.handler.schema()?.as_arguments();
        for declared in &self.declared {
            match arguments.iter_mut().find(|known| known.name == declared.name) {
                Some(known) => known.adopt(declared),
                None => arguments.push(declared.clone()),
            }
        }
        Ok(arguments)
    }

    /// Returns the first argument that is declared twice.
    pub(crate) fn declares_twice(&self) -> Option<&str> {
        let names = self.declared.iter().map(|argument| &*argument.name);
        names
            .clone()
            .enumerate()
            .find(|(at, name)| names.clone().take(*at).any(|other| other == *name))
            .map(|(_, name)| name)
    }
}
