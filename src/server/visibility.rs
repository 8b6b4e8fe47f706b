//! What is shown to some callers only.

use std::fmt;

use super::context::RequestInfo;

type Shown = Box<dyn Fn(&RequestInfo) -> bool>;

/// To whom a tool, resource, template or prompt is shown. To others it is not there.
#[derive(Default)]
pub(crate) struct Visibility(Option<Shown>);

impl Visibility {
    pub(crate) fn when(shown: impl Fn(&RequestInfo) -> bool + 'static) -> Self {
        Self(Some(Box::new(shown)))
    }

    /// Whether it is shown to all.
    pub(crate) fn is_general(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn shows_to(&self, request: &RequestInfo) -> bool {
        self.0.as_ref().is_none_or(|shown| shown(request))
    }
}

impl fmt::Debug for Visibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_general() { "general" } else { "by caller" })
    }
}

/// The builder method that everything with a [`Visibility`] has.
macro_rules! visibility_method {
    () => {
        /// Shows it only where `shown` says so. To other callers it is not there: not in lists, and not to use.
        #[must_use]
        pub fn visible_if(mut self, shown: impl Fn(&$crate::server::RequestInfo) -> bool + 'static) -> Self {
            self.visibility = $crate::server::visibility::Visibility::when(shown);
            self
        }
    };
}
pub(crate) use visibility_method;
