//! The kinds of lists, and the return types of list and completion functions.

use crate::call::error::{HandlerError, IntoHandlerError};

/// A kind of list that a server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// The list of `tools/list`.
    Tools,
    /// The list of `resources/list`.
    Resources,
    /// The list of `resources/templates/list`.
    ResourceTemplates,
    /// The list of `prompts/list`.
    Prompts,
}

/// A list, or a `Result` of one: the return types of the functions of [`Completion::with`](crate::Completion::with) and
/// [`ResourceTemplate::list`](crate::ResourceTemplate::list).
#[diagnostic::on_unimplemented(
    message = "a list function cannot return `{Self}`",
    label = "the function must return `Vec<{T}>` or a `Result` of it"
)]
pub trait IntoList<T> {
    /// Converts the value into a list.
    ///
    /// # Errors
    /// The function's own error.
    fn into_list(self) -> Result<Vec<T>, HandlerError>;
}

impl<T> IntoList<T> for Vec<T> {
    fn into_list(self) -> Result<Vec<T>, HandlerError> {
        Ok(self)
    }
}

impl<T, E: IntoHandlerError> IntoList<T> for Result<Vec<T>, E> {
    fn into_list(self) -> Result<Vec<T>, HandlerError> {
        self.map_err(E::into_handler_error)
    }
}
