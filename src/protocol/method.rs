//! The methods of the protocol, and the revisions that have them.
//!
//! Source: the `method` constants of each revision's schema.

use super::revision::Revision;

/// A method that a client can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum Method {
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
    Listen,
    SetLogLevel,
    ListSkills,
    GetSkill,
    ReadDirectory,
}

/// A method: its name, its first and last revision, and its properties.
struct Row {
    method: Method,
    name: &'static str,
    since: Revision,
    until: Revision,
    /// The parameter with the target of the method: a name or a URI. The header `Mcp-Name` repeats it.
    target: Option<&'static str>,
    /// Whether the method runs a handler, which can send notifications before the answer.
    notifies: bool,
}

const fn row(method: Method, name: &'static str, since: Revision, until: Revision) -> Row {
    Row { method, name, since, until, target: None, notifies: false }
}

impl Row {
    /// Sets the parameter with the target. Source: 2026-07-28, basic/transports/streamable-http, "Standard Request Headers".
    const fn target(self, param: &'static str) -> Self {
        Self { target: Some(param), ..self }
    }

    /// Marks the method as one that runs a handler.
    const fn notifies(self) -> Self {
        Self { notifies: true, ..self }
    }
}

use Revision::{V2024_11_05 as FIRST, V2025_11_25 as LEGACY, V2026_07_28 as NEWEST};

const TABLE: [Row; 16] = [
    row(Method::Initialize, "initialize", FIRST, LEGACY),
    row(Method::Ping, "ping", FIRST, LEGACY),
    row(Method::Discover, "server/discover", NEWEST, NEWEST),
    row(Method::ListTools, "tools/list", FIRST, NEWEST),
    row(Method::CallTool, "tools/call", FIRST, NEWEST).target("name").notifies(),
    row(Method::ListResources, "resources/list", FIRST, NEWEST),
    row(Method::ListResourceTemplates, "resources/templates/list", FIRST, NEWEST),
    row(Method::ReadResource, "resources/read", FIRST, NEWEST).target("uri").notifies(),
    row(Method::ListPrompts, "prompts/list", FIRST, NEWEST),
    row(Method::GetPrompt, "prompts/get", FIRST, NEWEST).target("name").notifies(),
    row(Method::Complete, "completion/complete", FIRST, NEWEST).notifies(),
    row(Method::Listen, "subscriptions/listen", NEWEST, NEWEST),
    row(Method::SetLogLevel, "logging/setLevel", FIRST, LEGACY),
    // The extension for skills, which all revisions can have.
    row(Method::ListSkills, "skills/list", FIRST, NEWEST),
    row(Method::GetSkill, "skills/get", FIRST, NEWEST),
    row(Method::ReadDirectory, "resources/directory/read", FIRST, NEWEST),
];

impl Method {
    /// Returns the method with this name in any revision, or `None` if the name is unknown.
    pub(crate) fn named(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.method)
    }

    fn row(self) -> Option<&'static Row> {
        TABLE.iter().find(|row| row.method == self)
    }

    /// Returns whether `revision` has this method.
    pub(crate) fn is_in(self, revision: Revision) -> bool {
        self.row().is_some_and(|row| (row.since..=row.until).contains(&revision))
    }

    pub(crate) fn name(self) -> &'static str {
        self.row().map_or("", |row| row.name)
    }

    /// Returns whether the method runs a handler, which can send notifications before the answer.
    pub(crate) fn notifies(self) -> bool {
        self.row().is_some_and(|row| row.notifies)
    }

    /// Returns the parameter with the target of the method: a name or a URI. The header `Mcp-Name` must repeat it.
    pub(crate) fn target_param(self) -> Option<&'static str> {
        self.row()?.target
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rules 38 and 95: a method of another revision is unknown.
    #[test]
    fn each_revision_has_its_own_methods() {
        for (name, legacy, modern) in [
            ("initialize", true, false),
            ("ping", true, false),
            ("server/discover", false, true),
            ("subscriptions/listen", false, true),
            ("tools/call", true, true),
            ("tools/Call", false, false),
            ("", false, false),
        ] {
            let is_in = |revision| Method::named(name).is_some_and(|method| method.is_in(revision));
            assert_eq!((is_in(LEGACY), is_in(NEWEST)), (legacy, modern), "{name}");
        }
    }

    /// Rule 32: for three methods, the header `Mcp-Name` repeats the target.
    #[test]
    fn three_methods_have_a_target() {
        let targets = TABLE.iter().filter_map(|row| Some((row.name, row.target?)));
        let expected = [("tools/call", "name"), ("resources/read", "uri"), ("prompts/get", "name")];
        assert_eq!(targets.collect::<Vec<_>>(), expected);
    }

    /// Each name belongs to one method.
    #[test]
    fn methods_are_found_by_name() {
        for row in &TABLE {
            assert_eq!(Method::named(row.method.name()), Some(row.method));
        }
    }
}
