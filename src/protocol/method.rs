//! The methods a client can call, and the revisions that have them.
//!
//! Source: the `method` constants of each revision's schema.

use super::revision::Revision;

/// A method that is served here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Method {
    Initialize,
    Ping,
    Discover,
    ListTools,
    CallTool,
    ListResources,
    ListResourceTemplates,
    ReadResource,
    ListPrompts,
    GetPrompt,
    Complete,
    SetLogLevel,
}

/// One row per method: its name, its first and its last revision, and the parameter that `Mcp-Name` repeats.
struct Row {
    method: Method,
    name: &'static str,
    since: Revision,
    until: Revision,
    mirrored: Option<&'static str>,
}

const fn row(method: Method, name: &'static str, since: Revision, until: Revision) -> Row {
    Row { method, name, since, until, mirrored: None }
}

impl Row {
    /// 2026-07-28, basic/transports/streamable-http, "Standard Request Headers".
    const fn mirrors(self, param: &'static str) -> Self {
        Self { mirrored: Some(param), ..self }
    }
}

use Revision::{V2024_11_05 as FIRST, V2025_11_25 as LEGACY, V2026_07_28 as NEWEST};

const TABLE: [Row; 12] = [
    row(Method::Initialize, "initialize", FIRST, LEGACY),
    row(Method::Ping, "ping", FIRST, LEGACY),
    row(Method::Discover, "server/discover", NEWEST, NEWEST),
    row(Method::ListTools, "tools/list", FIRST, NEWEST),
    row(Method::CallTool, "tools/call", FIRST, NEWEST).mirrors("name"),
    row(Method::ListResources, "resources/list", FIRST, NEWEST),
    row(Method::ListResourceTemplates, "resources/templates/list", FIRST, NEWEST),
    row(Method::ReadResource, "resources/read", FIRST, NEWEST).mirrors("uri"),
    row(Method::ListPrompts, "prompts/list", FIRST, NEWEST),
    row(Method::GetPrompt, "prompts/get", FIRST, NEWEST).mirrors("name"),
    row(Method::Complete, "completion/complete", FIRST, NEWEST),
    row(Method::SetLogLevel, "logging/setLevel", FIRST, LEGACY),
];

impl Method {
    /// The method of that name, if `revision` has it.
    pub fn named(name: &str, revision: Revision) -> Option<Self> {
        let served = |row: &&Row| row.name == name && (row.since..=row.until).contains(&revision);
        TABLE.iter().find(served).map(|row| row.method)
    }

    /// The method's name.
    pub(crate) fn name(self) -> &'static str {
        TABLE.iter().find(|row| row.method == self).map_or("", |row| row.name)
    }

    /// Whether a handler of ours runs for it, which may have something to tell before it is done.
    pub(crate) fn may_tell(name: &str) -> bool {
        matches!(name, "tools/call" | "resources/read" | "prompts/get" | "completion/complete")
    }

    /// The parameter whose value the header `Mcp-Name` must repeat, for the methods that have one.
    pub fn mirrored_param(name: &str) -> Option<&'static str> {
        TABLE.iter().find(|row| row.name == name)?.mirrored
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rules 38 and 95: what a revision does not have is unknown to it.
    #[test]
    fn each_revision_has_its_own_methods() {
        for (name, legacy, modern) in [
            ("initialize", true, false),
            ("ping", true, false),
            ("server/discover", false, true),
            ("tools/call", true, true),
            ("tools/Call", false, false),
            ("", false, false),
        ] {
            assert_eq!(Method::named(name, LEGACY).is_some(), legacy, "{name} in {LEGACY}");
            assert_eq!(Method::named(name, NEWEST).is_some(), modern, "{name} in {NEWEST}");
        }
    }

    /// Rule 32: three methods are named in a header, others are not.
    #[test]
    fn some_methods_have_a_name_to_mirror() {
        assert_eq!(Method::mirrored_param("tools/call"), Some("name"));
        assert_eq!(Method::mirrored_param("resources/read"), Some("uri"));
        assert_eq!(Method::mirrored_param("prompts/get"), Some("name"));
        assert_eq!(Method::mirrored_param("tools/list"), None);
        assert_eq!(Method::mirrored_param("no/such"), None);
    }
}
