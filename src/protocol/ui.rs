//! The names of MCP Apps, the extension by which a tool has a user interface.
//!
//! Source: ext-apps, specification 2026-01-26.

use edge_json::{Kind, Value};

/// The name of the extension.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// The beginning of the URI of a user interface. Clients compare it as a string.
pub(crate) const SCHEME: &str = "ui://";
/// The media type of a user interface. Clients compare it as a string.
pub(crate) const MIME_TYPE: &str = "text/html;profile=mcp-app";
/// The deprecated member of a tool's `_meta` with the URI of its user interface. Clients still read it.
pub(crate) const FLAT_RESOURCE_URI: &str = "ui/resourceUri";
/// The member of a tool's `_meta` with its user interface, and who may call it.
pub(crate) const UI: &str = "ui";
/// The caller that is a user interface, in the `visibility` of a tool. The other caller is [`MODEL`].
pub(crate) const APP: &str = "app";
pub(crate) const MODEL: &str = "model";

/// Returns whether the definition of a tool says that no model may see the tool. Its `visibility` is then a list without [`MODEL`]. A
/// `visibility` of another type says nothing.
pub(crate) fn is_for_app_only(tool: Value<'_>) -> bool {
    let visibility = tool.get("_meta").and_then(|meta| meta.get(UI)).and_then(|ui| ui.get("visibility"));
    visibility
        .filter(|callers| callers.kind() == Kind::Array)
        .is_some_and(|callers| callers.items().all(|caller| !caller.is_str(MODEL)))
}

/// Returns whether user interfaces may call a tool: its `visibility` has [`APP`], or says nothing.
#[cfg(feature = "gateway")]
pub(crate) fn is_for_apps(tool: Value<'_>) -> bool {
    let visibility = tool.get("_meta").and_then(|meta| meta.get(UI)).and_then(|ui| ui.get("visibility"));
    let visibility = visibility.filter(|callers| callers.kind() == Kind::Array);
    visibility.is_none_or(|callers| callers.items().any(|caller| caller.is_str(APP)))
}

/// Returns the URI of the user interface in the definition of a tool, from the member of today or else from the deprecated one.
pub(crate) fn resource_uri(tool: Value<'_>) -> Option<Value<'_>> {
    let meta = tool.get("_meta")?;
    meta.get(UI).and_then(|ui| ui.get("resourceUri")).or_else(|| meta.get(FLAT_RESOURCE_URI))
}
