//! The cache of lists as JSON.
//!
//! If the server of an endpoint is built only once, all requests share its definitions. A list that is the same for every caller is then
//! serialized once for each revision.

use std::cell::RefCell;
use std::rc::Rc;

use super::list::ListKind;
use crate::protocol::revision::Revision;

/// The cached lists of one server: at most one for each kind and revision.
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
