//! Visibility and scopes of a tool, resource, template or prompt.

use std::fmt;

use crate::auth::Principal;
use crate::call::request_info::RequestInfo;
use crate::text::Text;

type Visibility = Box<dyn Fn(&RequestInfo) -> bool>;

/// The visibility of an item, and the scopes that a caller needs to use it.
#[derive(Default)]
pub(crate) struct Access {
    pub shown: Option<Visibility>,
    pub scopes: Vec<Text>,
}

impl Access {
    /// Returns whether the item is visible to the caller of `request`.
    pub(crate) fn shows_to(&self, request: &RequestInfo) -> bool {
        self.shown.as_ref().is_none_or(|shown| shown(request))
    }

    /// Returns whether the caller of `request` can see and use the item.
    pub(crate) fn permits(&self, request: &RequestInfo) -> bool {
        self.shows_to(request) && permits(request, &self.scopes)
    }

    /// Returns whether the item is available to all callers.
    pub(crate) fn is_general(&self) -> bool {
        self.shown.is_none() && self.scopes.is_empty()
    }
}

/// Returns whether the caller of `request` has all of `scopes`. On an endpoint without authentication, and for calls of the program itself,
/// scopes are not checked.
pub(crate) fn permits(request: &RequestInfo, scopes: &[Text]) -> bool {
    scopes.is_empty()
        || match request.caller() {
            Some(caller) => has_scopes(caller, scopes),
            None => !request.is_unidentified(),
        }
}

/// Returns whether `caller` has all of `scopes`.
pub(crate) fn has_scopes(caller: &Principal, scopes: &[Text]) -> bool {
    scopes.iter().all(|scope| caller.has_scope(scope))
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("by_caller", &self.shown.is_some()).field("scopes", &self.scopes).finish()
    }
}

/// The builder methods of items with an [`Access`].
macro_rules! access_methods {
    () => {
        /// Makes the item visible only if `shown` returns `true` for the caller. Otherwise the item is
        /// indistinguishable from one that does not exist.
        pub fn visible_if(mut self, shown: impl Fn(&$crate::RequestInfo) -> bool + 'static) -> Self {
            self.access.shown = Some(Box::new(shown));
            self
        }

        /// Requires that the caller's token has all of these scopes. Callers without them do not see the item in lists,
        /// unless the server [lists all](crate::McpServerBuilder::list_all). If they use it, they get a 403 that names
        /// the required scopes. On an endpoint without authentication, scopes are not checked.
        pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<$crate::text::Text>>) -> Self {
            self.access.scopes.extend(scopes.into_iter().map(Into::into));
            self
        }
    };
}
pub(crate) use access_methods;
