//! The results of mounted servers, with the URIs by which callers know the resources of the servers.
//!
//! Links and embedded resources change. Texts, structured content and other members stay as the server sent them.

use serde_json::{Map, Value};

use super::apps;
use super::mounted::Mounted;
use crate::call::result::ToolResult;
use crate::protocol::content::{Content, PromptMessage};
use crate::protocol::meta::OF_PROTOCOL;
use crate::protocol::resource_contents::ResourceContents;
use crate::protocol::ui::{FLAT_RESOURCE_URI, UI};

/// The member of [`UI`] with the URI of the page.
const RESOURCE_URI: &str = "resourceUri";

/// Returns the result of a tool for the caller.
pub(super) fn shown_result(mount: &Mounted, mut result: ToolResult) -> ToolResult {
    result.content = result.content.into_iter().map(|block| shown_block(mount, block)).collect();
    if let Some(meta) = &mut result.meta {
        show_meta(mount, meta);
    }
    result
}

/// Returns the `_meta` of a result for the caller.
pub(super) fn shown_meta(mount: &Mounted, meta: Option<&Map<String, Value>>) -> Option<Map<String, Value>> {
    let mut meta = meta?.clone();
    show_meta(mount, &mut meta);
    (!meta.is_empty()).then_some(meta)
}

fn show_meta(mount: &Mounted, meta: &mut Map<String, Value>) {
    // This server says itself what the protocol says about a result.
    meta.retain(|name, _| !name.starts_with(OF_PROTOCOL));
    show_app_uris(mount, meta);
}

pub(super) fn shown_message(mount: &Mounted, message: PromptMessage) -> PromptMessage {
    message.map_content(|block| shown_block(mount, block))
}

fn shown_block(mount: &Mounted, block: Content) -> Content {
    if mount.settings.has_prefix { block.map_uri(|uri| mount.shown_uri(uri).into_owned()) } else { block }
}

/// Returns the contents of a resource for the caller, who reads it at the URI `shown`.
pub(super) fn shown_contents(mount: &Mounted, mut contents: ResourceContents) -> ResourceContents {
    let shown = mount.shown_uri(contents.uri()).into_owned();
    if let Some(meta) = contents.meta_mut() {
        apps::show_settings(mount, meta);
    }
    contents.at(shown)
}

/// Replaces the URI of a user interface in the `_meta` of a result. A URI that cannot be shown is removed: it could be that of another server.
fn show_app_uris(mount: &Mounted, meta: &mut Map<String, Value>) {
    let shown = |uri: &Value| apps::shown_uri(mount, uri.as_str()?).map(Value::from);
    let flat = meta.remove(FLAT_RESOURCE_URI);
    apps::remove_keys_of_clients(mount, meta);
    if let Some(uri) = flat {
        meta.extend(shown(&uri).map(|uri| (FLAT_RESOURCE_URI.to_owned(), uri)));
    }
    if let Some(Value::Object(ui)) = meta.get_mut(UI)
        && let Some(uri) = ui.remove(RESOURCE_URI)
    {
        ui.extend(shown(&uri).map(|uri| (RESOURCE_URI.to_owned(), uri)));
    }
}
