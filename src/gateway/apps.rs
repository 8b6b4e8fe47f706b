//! The user interfaces of mounted tools (MCP Apps).
//!
//! A page calls tools by the names that its server gives them. A host sends such a call with this name to the gateway.

use std::rc::Rc;

use edge_json::{Document, JsonLimits, object};
use futures::FutureExt;
use serde_json::{Map, Value};

use super::Gateway;
use super::mounted::Mounted;
use super::tools::Named;
use crate::call::context::{Context, unknown_tool};
use crate::call::error::HandlerError;
use crate::client::Definition;
use crate::limits::UPSTREAM_PARALLEL;
use crate::parallel::parallel;
use crate::protocol::ui::{UI, is_for_apps};
use crate::server::access::permits;
use crate::server::app::origin::{List, origin_problem};
use crate::server::app::uri_problem;
use crate::server::list::ListKind;
use crate::text::Text;

/// Returns whether a URI of a user interface can be shown under the name of a mount.
pub(super) fn is_valid(uri: &str) -> bool {
    uri_problem(uri).is_none()
}

/// Replaces the settings of a page in the `_meta` of a resource by those that the gateway allows: origins that a client can join into a header,
/// permissions only for a trusted server, and the domain of the mount.
pub(super) fn show_settings(mount: &Mounted, meta: &mut Map<String, Value>) {
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

impl Gateway {
    /// Returns the only server whose apps are shown and that has a tool of this name for them.
    pub(super) async fn server_of_app(
        &self,
        named: &Named,
        cx: &Context,
    ) -> Result<(Rc<Mounted>, Named), HandlerError> {
        let Named::ForApps(name) = named else { return Err(HandlerError::new(unknown_tool(""))) };
        let mounts = self.0.mounts.iter().filter(|mount| {
            mount.settings.shows_apps && permits(cx.request(), &mount.settings.scopes) && mount.settings.has_tool(name)
        });
        let lists = mounts.map(|mount| async move { (mount, mount.list(ListKind::Tools, cx).await) }.boxed_local());
        let mut found = Vec::new();
        for (mount, list) in parallel(lists, UPSTREAM_PARALLEL).await {
            let Ok(list) = list else { continue };
            let is_it = |tool: &Definition| {
                let document = Document::parse(tool.raw().as_bytes(), JsonLimits::MOST);
                tool.name() == name && document.is_ok_and(|document| is_for_apps(document.root()))
            };
            if mount.tools(&list, cx).iter().any(|(_, tool)| is_it(tool)) {
                found.push(mount.clone());
            }
        }
        match <[Rc<Mounted>; 1]>::try_from(found) {
            Ok([mount]) => Ok((mount, Named::AtServer(name.clone()))),
            Err(_) => Err(HandlerError::new(unknown_tool(name))),
        }
    }
}
