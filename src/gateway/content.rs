//! The results of mounted servers, with the URIs by which callers know the resources of the servers.
//!
//! Links and embedded resources change. Texts, structured content and other members stay as the server sent them.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::apps;
use super::mounted::Mounted;
use crate::call::result::ToolResult;
use crate::protocol::content::{Content, PromptMessage};
use crate::protocol::resource_contents::ResourceContents;
use crate::protocol::ui::{FLAT_RESOURCE_URI, UI};

/// Returns the result of a tool for the caller.
pub(super) fn shown_result(mount: &Mounted, mut result: ToolResult) -> ToolResult {
    if !mount.settings.has_prefix {
        return result;
    }
    result.content = result.content.into_iter().map(|block| shown_block(mount, block)).collect();
    if let Some(meta) = &mut result.meta {
        show_app_uris(mount, meta);
    }
    result
}

pub(super) fn shown_message(mount: &Mounted, message: PromptMessage) -> PromptMessage {
    message.map_content(|block| shown_block(mount, block))
}

fn shown_block(mount: &Mounted, block: Content) -> Content {
    block.map_uri(|uri| mount.shown_uri(uri).into_owned())
}

/// Returns the contents of a resource for the caller, who reads it at the URI `shown`.
pub(super) fn shown_contents(mount: &Mounted, mut contents: ResourceContents) -> ResourceContents {
    let shown = mount.shown_uri(contents.uri()).into_owned();
    if let Some(meta) = contents.meta_mut() {
        apps::show_settings(mount, meta);
    }
    contents.at(shown)
}

/// Replaces the URI of a user interface in the `_meta` of a result.
fn show_app_uris(mount: &Mounted, meta: &mut Map<String, Value>) {
    let show = |uri: &mut Value| {
        if let Some(shown) =
            uri.as_str().filter(|uri| apps::is_valid(uri)).map(|uri| mount.shown_uri(uri)).map(Cow::into_owned)
        {
            *uri = shown.into();
        }
    };
    if let Some(uri) = meta.get_mut(FLAT_RESOURCE_URI) {
        show(uri);
    }
    if let Some(uri) = meta.get_mut(UI).and_then(|ui| ui.get_mut("resourceUri")) {
        show(uri);
    }
}
