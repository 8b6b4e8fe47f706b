//! Cache hints: how long a client may cache a result, and for which callers.
//!
//! Source: 2026-07-28, server/utilities/caching. Older revisions do not have cache hints, so their clients do not get any.

use std::time::Duration;

use serde::Serialize;

use super::list::ListKind;

/// A cache hint: how long a client may cache a result, and for which callers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CacheHint {
    ttl_ms: u64,
    cache_scope: Scope,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Scope {
    Public,
    #[default]
    Private,
}

impl CacheHint {
    /// A hint that forbids caching. It is the default, and it is correct for every result.
    pub const NONE: Self = Self { ttl_ms: 0, cache_scope: Scope::Private };

    /// Creates a hint for a result that may be cached for this caller only.
    pub fn private(time: Duration) -> Self {
        Self { ttl_ms: u64::try_from(time.as_millis()).unwrap_or(u64::MAX), cache_scope: Scope::Private }
    }

    /// Creates a hint for a result that may be cached for all callers.
    ///
    /// A server with this hint cannot be built if the items of the result depend on the caller, because of
    /// [`visible_if`](crate::Tool::visible_if) or [`scopes`](crate::Tool::scopes). If a handler has read the caller
    /// or a header, its response is private.
    pub fn public(time: Duration) -> Self {
        Self { cache_scope: Scope::Public, ..Self::private(time) }
    }

    pub(crate) fn is_public(self) -> bool {
        self.cache_scope == Scope::Public
    }

    /// Returns the hint for a result that may be cached for at most `time`.
    pub(crate) fn at_most(self, time: Duration) -> Self {
        Self { ttl_ms: self.ttl_ms.min(Self::private(time).ttl_ms), ..self }
    }

    /// Returns the hint for a result that depends on the caller.
    pub(crate) fn for_this_caller(self) -> Self {
        Self { cache_scope: Scope::Private, ..self }
    }
}

/// A kind of result with a cache hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cacheable {
    /// The result of `server/discover`.
    Discover,
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources.
    Resources,
    /// The list of resource templates.
    ResourceTemplates,
    /// The contents of resources.
    ReadResource,
    /// The list of skills.
    Skills,
    /// The entry of a skill.
    Skill,
    /// The folders of skills.
    Directory,
}

impl From<ListKind> for Cacheable {
    fn from(list: ListKind) -> Self {
        match list {
            ListKind::Tools => Self::Tools,
            ListKind::Resources => Self::Resources,
            ListKind::ResourceTemplates => Self::ResourceTemplates,
            ListKind::Prompts => Self::Prompts,
        }
    }
}
