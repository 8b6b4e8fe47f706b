//! For how long a client may keep what it was told, and for whom.
//!
//! Source: 2026-07-28, server/utilities/caching. Older revisions know nothing of it, and are sent nothing of it.

use std::time::Duration;

use serde::Serialize;

/// For how long a client may keep a result, and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CacheHint {
    ttl_ms: u64,
    cache_scope: Scope,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Scope {
    Public,
    Private,
}

impl CacheHint {
    /// Nothing is to be kept. So it is unless something else is said: it is right whatever the answer depends on.
    pub const NONE: Self = Self { ttl_ms: 0, cache_scope: Scope::Private };

    /// The caller may keep it, for itself.
    pub fn private(time: Duration) -> Self {
        Self { ttl_ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX), cache_scope: Scope::Private }
    }

    /// Anyone may keep it, and give it to anyone: it is the same for all callers.
    ///
    /// It is refused where something is [shown to some callers only](crate::Tool::visible_if). An answer that was
    /// made after a look at the caller or at a header is sent as private all the same.
    pub fn public(time: Duration) -> Self {
        Self { cache_scope: Scope::Public, ..Self::private(time) }
    }

    pub(crate) fn is_public(self) -> bool {
        self.cache_scope == Scope::Public
    }

    /// The hint for an answer that depends on the caller.
    pub(crate) fn for_this_caller(self) -> Self {
        Self { cache_scope: Scope::Private, ..self }
    }
}

/// A result that carries a caching hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Cacheable {
    Discover,
    Tools,
    Prompts,
    Resources,
    ResourceTemplates,
    ReadResource,
}
