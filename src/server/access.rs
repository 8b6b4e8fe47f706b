//! Who may see a tool, resource, template or prompt, and who may use it.

use std::fmt;

use crate::auth::Principal;
use crate::call::request_info::RequestInfo;
use crate::protocol::description::Text;

type Shown = Box<dyn Fn(&RequestInfo) -> bool>;

/// To whom something is shown, and what a caller needs to use it.
#[derive(Default)]
pub(crate) struct Access {
    pub shown: Option<Shown>,
    pub scopes: Vec<Text>,
}

impl Access {
    /// Whether it is there for this caller.
    pub(crate) fn shows_to(&self, request: &RequestInfo) -> bool {
        self.shown.as_ref().is_none_or(|shown| shown(request))
    }

    /// Whether it is the same for all callers.
    pub(crate) fn is_general(&self) -> bool {
        self.shown.is_none() && self.scopes.is_empty()
    }
}

/// Whether `caller` has all of `scopes`. Where nobody is asked who they are, nobody can show any.
pub(crate) fn permits(caller: Option<&Principal>, scopes: &[Text]) -> bool {
    caller.is_none_or(|caller| scopes.iter().all(|scope| caller.has_scope(scope)))
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").field("by_caller", &self.shown.is_some()).field("scopes", &self.scopes).finish()
    }
}

/// The builder methods of everything that has an [`Access`].
macro_rules! access_methods {
    () => {
        /// Shows it only where `shown` says so. To other callers it is not there: not in lists, and not to use.
        #[must_use]
        pub fn visible_if(mut self, shown: impl Fn(&$crate::RequestInfo) -> bool + 'static) -> Self {
            self.access.shown = Some(Box::new(shown));
            self
        }

        /// Only for callers whose token has all of these scopes. Others do not find it in lists, unless the server
        /// [lists all](crate::McpServerBuilder::list_all), and are told by a 403 which scopes they lack when they use it.
        /// On an endpoint without authentication everybody may use it.
        #[must_use]
        pub fn scopes(
            mut self,
            scopes: impl IntoIterator<Item = impl Into<$crate::protocol::description::Text>>,
        ) -> Self {
            self.access.scopes.extend(scopes.into_iter().map(Into::into));
            self
        }
    };
}
pub(crate) use access_methods;
