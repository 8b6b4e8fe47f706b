//! The revisions of the protocol and their features.
//!
//! Revisions differ in fields and rules. Clients ignore unknown members, so most additions can be sent to all clients.
//! [`Feature`] lists the features that a client of another revision would reject or misread. Code that creates a response
//! calls [`Revision::has`] instead of comparing dates.

use std::fmt;

/// The way in which a client states its revision: in a handshake, or in each request.
///
/// Source: 2026-07-28, basic/versioning, "Terminology".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// With `initialize`: revisions up to 2025-11-25.
    Legacy,
    /// In the `_meta` of every request: 2026-07-28 and later.
    Modern,
}

impl Era {
    /// Returns `legacy` or `modern`, for the log.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }
}

/// A supported revision. The variants are in order, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Revision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

/// A feature that must not be used with a revision that does not have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    /// Several messages in one body. Source: the changelogs of 2025-03-26 and 2025-06-18.
    Batches,
    /// Audio content. Source: the changelog of 2025-03-26.
    AudioContent,
    /// Resource links in content. Source: the changelog of 2025-06-18.
    ResourceLinks,
    /// The `title` of a tool. Earlier clients read the title in its annotations. Source: the changelog of 2025-06-18.
    ToolTitle,
    /// Structured content that is not an object, and output schemas for it. Source: the changelog of 2026-07-28.
    AnyStructuredContent,
    /// `resultType`, caching hints and `serverInfo` in every result. Source: the changelog of 2026-07-28.
    ResultEnvelope,
    /// The error code -32002 for a resource that does not exist. Source: the changelog of 2026-07-28, which removes it.
    ResourceNotFoundCode,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];
    /// The revision of a legacy request without an `MCP-Protocol-Version` header (2025-06-18, basic/transports).
    pub(crate) const UNNAMED: Self = Self::V2025_03_26;
    /// The revision in the response to `initialize`, if the requested one is not supported.
    pub(crate) const NEWEST_LEGACY: Self = Self::V2025_11_25;

    /// Returns the date that names the revision on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Returns the revision with this name, or `None` if it is not supported.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.name() == name)
    }

    /// Returns the era of the version `name`, which may be unsupported. Names are dates, so they compare like dates.
    pub(crate) fn era_of(name: &str) -> Era {
        if name < Self::V2026_07_28.name() { Era::Legacy } else { Era::Modern }
    }

    pub(crate) fn era(self) -> Era {
        Self::era_of(self.name())
    }

    /// Returns the names of an era's revisions, newest first.
    pub(crate) fn names_of(era: Era) -> Vec<&'static str> {
        Self::ALL.into_iter().rev().filter(|revision| revision.era() == era).map(Self::name).collect()
    }

    /// Returns whether this revision has `feature`.
    pub(crate) fn has(self, feature: Feature) -> bool {
        use Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
        let (since, until) = match feature {
            Feature::Batches => (V2025_03_26, Some(V2025_03_26)),
            Feature::AudioContent => (V2025_03_26, None),
            Feature::ResourceLinks | Feature::ToolTitle => (V2025_06_18, None),
            Feature::AnyStructuredContent | Feature::ResultEnvelope => (V2026_07_28, None),
            Feature::ResourceNotFoundCode => (V2024_11_05, Some(V2025_11_25)),
        };
        since <= self && until.is_none_or(|last| self <= last)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_found_by_name() {
        for revision in Revision::ALL {
            assert_eq!(Revision::named(revision.name()), Some(revision));
        }
        assert_eq!(Revision::named("2024-10-07"), None);
    }

    #[test]
    fn every_version_has_an_era() {
        for (name, era) in [
            ("2024-11-05", Era::Legacy),
            ("2025-11-25", Era::Legacy),
            ("1999-01-01", Era::Legacy),
            ("2026-07-28", Era::Modern),
            ("2031-01-01", Era::Modern),
            ("v999.0.0", Era::Modern),
        ] {
            assert_eq!(Revision::era_of(name), era, "{name}");
        }
        assert_eq!(Revision::names_of(Era::Modern), ["2026-07-28"]);
        assert_eq!(Revision::names_of(Era::Legacy), ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]);
    }
}
