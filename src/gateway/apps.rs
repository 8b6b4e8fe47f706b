//! The user interfaces of mounted tools (MCP Apps).

use std::rc::Rc;

use edge_json::object;
use serde_json::{Map, Value};

use super::mounted::Mounted;
use crate::protocol::ui::UI;
use crate::server::app::origin::{List, origin_problem};
use crate::server::app::uri_problem;
use crate::server::tool::Tool;
use crate::text::Text;

/// Tells clients that pages must not call the tools of the gateway's own server and of its other sources, except for those that say themselves who
/// may call them.
pub(super) fn close_to_pages(tools: &mut [Rc<Tool>]) {
    // Until a server is built, and until a source is merged, nothing else refers to a tool.
    for tool in tools.iter_mut().filter_map(Rc::get_mut) {
        let says_it = tool.metadata.meta.as_ref().is_some_and(|meta| meta.contains_key(UI));
        if tool.handler.mount().is_none() && !says_it {
            tool.for_model_only();
        }
    }
}

/// Returns whether the gateway shows a page of a server.
pub(super) fn is_shown(mount: &Mounted, uri: &str) -> bool {
    mount.settings.shows_apps && mount.settings.has_resources && uri_problem(uri).is_none()
}

/// Returns the URI by which callers know a page of a server, or `None` if the gateway does not show it.
pub(super) fn shown_uri(mount: &Mounted, uri: &str) -> Option<String> {
    is_shown(mount, uri).then(|| mount.shown_uri(uri).into_owned())
}

/// The prefixes of members of `_meta` by which some clients find the page of a tool and its settings. Their URIs would be those of other servers.
const OF_CLIENTS: [&str; 2] = ["ui/", "openai/"];

/// Removes the members of `_meta` by which clients find pages, except for `_meta.ui`, which the gateway reads.
pub(super) fn remove_keys_of_clients(mount: &Mounted, meta: &mut Map<String, Value>) {
    if mount.settings.has_prefix {
        meta.retain(|name, _| !OF_CLIENTS.iter().any(|prefix| name.starts_with(prefix)));
    }
}

/// Replaces the settings of a page in the `_meta` of a resource by those that the gateway allows: origins that a client can join into a header,
/// permissions only for a trusted server, and the domain of the mount.
pub(super) fn show_settings(mount: &Mounted, meta: &mut Map<String, Value>) {
    remove_keys_of_clients(mount, meta);
    let Some(ui) = meta.remove(UI).filter(|_| mount.settings.shows_apps) else { return };
    let mut csp = Map::new();
    for list in List::ALL {
        let origins = ui.get("csp").and_then(|csp| csp.get(list.name())).and_then(Value::as_array);
        let origins = origins.into_iter().flatten().filter_map(Value::as_str);
        let allowed = |origin: &&str| {
            let is_listed = |allowed: &[Text]| allowed.iter().any(|known| known == origin);
            origin_problem(list, origin, false).is_none() && mount.settings.app_origins.as_deref().is_none_or(is_listed)
        };
        let origins: Vec<Value> = origins.filter(allowed).map(Into::into).collect();
        if !origins.is_empty() {
            csp.insert(list.name().to_owned(), origins.into());
        }
    }
    let mut shown = vec![("csp", csp.into())];
    shown.extend(
        ui.get("prefersBorder").filter(|border| border.is_boolean()).map(|border| ("prefersBorder", border.clone())),
    );
    let permissions = ui.get("permissions").filter(|permissions| permissions.is_object() && mount.settings.is_trusted);
    shown.extend(permissions.map(|permissions| ("permissions", permissions.clone())));
    shown.extend(mount.settings.app_domain.as_deref().map(|domain| ("domain", domain.into())));
    meta.insert(UI.to_owned(), object(shown));
}
