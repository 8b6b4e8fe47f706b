//! The kinds of lists, the return types of list and completion functions, and the cache of lists.

use std::cell::RefCell;
use std::rc::Rc;

use crate::call::error::{HandlerError, IntoHandlerError};
use crate::protocol::revision::Revision;

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

/// The cached lists of one server as JSON: at most one for each kind and revision.
///
/// If the server of an endpoint is built only once, all requests share its definitions. A list that is the same for every caller is then
/// serialized once for each revision.
pub(crate) struct CachedLists {
    /// The kinds of lists that do not depend on the caller.
    kinds: Vec<ListKind>,
    lists: RefCell<Vec<(ListKind, Revision, Rc<str>)>>,
}

impl CachedLists {
    /// Creates an empty cache for lists of these kinds, which do not depend on the caller.
    pub(super) fn new(kinds: Vec<ListKind>) -> Self {
        Self { kinds, lists: RefCell::default() }
    }

    /// Returns the list `kind` for clients of `revision`, if it is cached.
    pub(crate) fn get(&self, kind: ListKind, revision: Revision) -> Option<Rc<str>> {
        let lists = self.lists.borrow();
        lists.iter().find(|(known, of, _)| (*known, *of) == (kind, revision)).map(|(_, _, json)| json.clone())
    }

    /// Returns whether the list `kind` may be cached: it must not depend on the caller.
    pub(crate) fn may_cache(&self, kind: ListKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// Caches the list `kind` for clients of `revision`.
    pub(crate) fn insert(&self, kind: ListKind, revision: Revision, json: &str) {
        if self.get(kind, revision).is_none() {
            self.lists.borrow_mut().push((kind, revision, json.into()));
        }
    }
}
