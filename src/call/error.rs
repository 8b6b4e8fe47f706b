//! The error of a handler: one sentence for the caller, the cause for the log.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use serde_json::{Map, Value};

use super::input_error::{InputError, InputProblem};
use crate::protocol::error::INTERNAL;
use crate::text::Text;

/// The error of a handler.
///
/// The caller gets the message. The cause goes only to the log. `?` converts every [`std::error::Error`]: the text of the error becomes
/// the cause, and the message is a fixed sentence. The text does not go to the caller, because it may contain internal details.
///
/// | constructor | tool | resource | prompt, completion |
/// |---|---|---|---|
/// | [`new`](Self::new) | `isError` | −32603 | −32603 |
/// | [`invalid`](Self::invalid) | `isError` | −32602 | −32602 |
/// | [`not_found`](Self::not_found) | `isError` | −32602, before 2026-07-28 −32002 | −32602 |
///
/// ```
/// use edge_mcp::{HandlerError, ResultExt};
///
/// fn celsius(text: &str) -> Result<f64, HandlerError> {
///     text.parse().message("Give the temperature as a number, such as 21.5.")
/// }
/// assert_eq!(celsius("warm").expect_err("no number").message(), "Give the temperature as a number, such as 21.5.");
/// ```
#[derive(Clone, Debug)]
pub struct HandlerError(pub(crate) Box<ErrorParts>);

#[derive(Clone, Debug)]
pub(crate) struct ErrorParts {
    pub(crate) kind: ErrorKind,
    pub(crate) message: Text,
    pub(crate) cause: Option<String>,
    /// The reason why a question to the client failed. The dispatcher creates the response from it.
    pub(crate) input: Option<InputError>,
    /// Members for the `_meta` of a tool's result.
    pub(crate) meta: Option<Box<Map<String, Value>>>,
    /// When to try again, if the reason is temporary.
    pub(crate) again: Option<Again>,
}

/// When work that failed for a temporary reason may succeed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Again {
    After(Duration),
    Unknown,
}

/// The kind of a failure, which determines the error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    Failed,
    Invalid,
    NotFound,
}

impl HandlerError {
    /// Creates an error. The message is for the caller: what happened, why, and what to do instead.
    pub fn new(message: impl Into<Text>) -> Self {
        Self::of_kind(ErrorKind::Failed, message.into())
    }

    /// Creates an error about invalid arguments. The message is for the caller: the mistake, and what to send instead.
    pub fn invalid(message: impl Into<Text>) -> Self {
        Self::of_kind(ErrorKind::Invalid, message.into())
    }

    /// Creates an error for something that does not exist.
    pub fn not_found(message: impl Into<Text>) -> Self {
        Self::of_kind(ErrorKind::NotFound, message.into())
    }

    /// Returns the sentence for the caller.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the text for the log: the cause, or the sentence if there is none.
    #[cfg(feature = "rag")]
    pub(crate) fn cause(&self) -> &str {
        self.0.cause.as_deref().unwrap_or(&self.0.message)
    }

    fn of_kind(kind: ErrorKind, message: Text) -> Self {
        Self(Box::new(ErrorParts { kind, message, cause: None, input: None, meta: None, again: None }))
    }

    #[cold]
    #[inline(never)]
    fn of_error(error: &(dyn Error + 'static)) -> Self {
        if let Some(input) = InputError::find(error) {
            return Self::of_question(input);
        }
        match error.source().and_then(|source| source.downcast_ref::<CauseForLog>()) {
            Some(cause) => Self::new(error.to_string()).because(cause),
            None => Self::new(INTERNAL).because(causes(error)),
        }
    }

    /// Creates the error of a question. The text of a question that is not allowed is for the log only.
    fn of_question(input: InputError) -> Self {
        let text = input.to_string();
        let mut error = match *input.0 {
            InputProblem::Forbidden(_) => Self::new(INTERNAL).because(text),
            _ => Self::new(text),
        };
        error.0.input = Some(input);
        error
    }

    /// Returns whether the handler asked a question that needs a session in the revision of the client.
    pub(crate) fn needs_session(&self) -> bool {
        self.0.input.as_ref().is_some_and(InputError::needs_session)
    }

    fn with_message(mut self, message: Text) -> Self {
        self.0.message = message;
        self
    }

    /// Sets a member of the `_meta` of a tool's result.
    pub(crate) fn meta(mut self, name: &str, value: Value) -> Self {
        self.0.meta.get_or_insert_default().insert(name.to_owned(), value);
        self
    }

    /// Adds the cause, for the log. It never reaches the caller. It should not contain the value of an argument or a secret.
    #[must_use]
    pub fn because(mut self, cause: impl ToString) -> Self {
        self.0.cause = Some(cause.to_string());
        self
    }
}

impl HandlerError {
    /// Declares that the reason is temporary, so that [`Context::retry`](crate::Context::retry) tries again after this time. With `None`, it
    /// chooses the time. A response states the time as [`Fetched::retry_after`](crate::host::Fetched::retry_after).
    #[must_use]
    pub fn try_again(mut self, after: Option<Duration>) -> Self {
        self.0.again = Some(after.map_or(Again::Unknown, Again::After));
        self
    }
}

/// The source of an error whose own text is for the caller. `?` passes the text of the error on, and writes only this source to the log.
#[derive(Clone, Debug)]
pub(crate) struct CauseForLog(pub(crate) String);

impl fmt::Display for CauseForLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for CauseForLog {}

/// An error that `?` converts into a [`HandlerError`]: every [`std::error::Error`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `std::error::Error`",
    label = "convert it: a text with `.map_err(HandlerError::new)`, an `IntoHandlerError` type with `.explained()`, any other with \
             `.map_err(|error| HandlerError::new(\"…\").because(error))`"
)]
pub trait Cause: Error + 'static {}

// With this attribute, a compiler error names `Cause`, whose message describes the remedy.
#[diagnostic::do_not_recommend]
impl<E: Error + 'static> Cause for E {}

// `HandlerError` does not implement `Error`, because this conversion would then overlap with `From<T> for T`.
impl<E: Cause> From<E> for HandlerError {
    fn from(error: E) -> Self {
        Self::of_error(&error)
    }
}

/// An error that a handler can return: [`HandlerError`], or your own type, which chooses the sentence for the caller.
///
/// ```
/// use edge_mcp::{HandlerError, IntoHandlerError, Tool};
///
/// enum Refused {
///     OutOfStock,
/// }
///
/// impl IntoHandlerError for Refused {
///     fn into_handler_error(self) -> HandlerError {
///         match self {
///             Self::OutOfStock => HandlerError::new("That article is out of stock. Call list-articles for the others."),
///         }
///     }
/// }
///
/// async fn order() -> Result<String, Refused> {
///     Err(Refused::OutOfStock)
/// }
///
/// let tool = Tool::new("order", "Orders an article.", order);
/// ```
#[diagnostic::on_unimplemented(
    message = "a handler cannot fail with `{Self}`",
    label = "the error must be `HandlerError`, or a type that implements `IntoHandlerError`",
    note = "return `Result<_, HandlerError>`: `?` converts every `std::error::Error` into it, and logs the text",
    note = "make an error from a text with `HandlerError::new(\"…\")`: the caller gets the text"
)]
pub trait IntoHandlerError {
    /// Converts the error.
    fn into_handler_error(self) -> HandlerError;
}

impl IntoHandlerError for HandlerError {
    fn into_handler_error(self) -> HandlerError {
        self
    }
}

impl IntoHandlerError for InputError {
    fn into_handler_error(self) -> HandlerError {
        self.into()
    }
}

/// Conversions of a `Result` into one with a [`HandlerError`].
pub trait ResultExt<T, E>: Sized {
    /// Replaces the error with `sentence` for the caller. The text of the error goes to the log. The error of a question keeps its code and
    /// its `data`.
    ///
    /// # Errors
    /// The converted error.
    fn message(self, sentence: impl Into<Text>) -> Result<T, HandlerError>
    where
        E: Cause;

    /// Converts an error with its [`IntoHandlerError`] implementation. If the type also implements [`std::error::Error`], `?` alone would
    /// replace its sentence with a fixed one.
    ///
    /// # Errors
    /// The converted error.
    fn explained(self) -> Result<T, HandlerError>
    where
        E: IntoHandlerError;

    /// Supplies a default answer if the client cannot be asked, because it does not declare the capability or uses an older revision. A
    /// malformed answer is still an error.
    ///
    /// # Errors
    /// The converted error.
    ///
    /// ```
    /// use edge_mcp::{Context, HandlerError, ResultExt};
    ///
    /// async fn clear(cx: Context) -> Result<&'static str, HandlerError> {
    ///     let is_confirmed = cx.confirm("clear", "Delete all parcels?").await.or_if_unasked(|| false)?;
    ///     Ok(if is_confirmed { "Deleted." } else { "Nothing was deleted." })
    /// }
    /// ```
    fn or_if_unasked(self, instead: impl FnOnce() -> T) -> Result<T, HandlerError>
    where
        E: Into<InputError>;
}

impl<T, E> ResultExt<T, E> for Result<T, E> {
    fn message(self, sentence: impl Into<Text>) -> Result<T, HandlerError>
    where
        E: Cause,
    {
        self.map_err(|error| HandlerError::from(error).with_message(sentence.into()))
    }

    fn explained(self) -> Result<T, HandlerError>
    where
        E: IntoHandlerError,
    {
        self.map_err(E::into_handler_error)
    }

    fn or_if_unasked(self, instead: impl FnOnce() -> T) -> Result<T, HandlerError>
    where
        E: Into<InputError>,
    {
        match self.map_err(Into::into) {
            Err(error) if error.is_unasked() => Ok(instead()),
            result => Ok(result?),
        }
    }
}

/// Returns the text of an error and of all its sources.
pub(crate) fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text.push_str(": ");
        text.push_str(&source.to_string());
        next = source.source();
    }
    text
}
