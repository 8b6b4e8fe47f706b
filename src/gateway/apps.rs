//! The user interfaces of mounted tools (MCP Apps).
//!
//! A page calls tools by the names that its server gives them. A host sends such a call with this name to the gateway.

use std::rc::Rc;

use edge_json::{Document, JsonLimits, object};
use futures::FutureExt;
use serde_json::{Map, Value};

use super::Gateway;
use super::mounted::Mounted;
use crate::call::context::{Context, unknown_tool};
use crate::call::error::HandlerError;
use crate::call::result::ToolResult;
use crate::client::Definition;
use crate::limits::UPSTREAM_PARALLEL;
use crate::parallel::parallel;
use crate::protocol::ui::{UI, is_for_apps};
use crate::server::access::permits;
use crate::server::app::origin::{List, origin_problem};
use crate::server::app::uri_problem;
use crate::server::execute::execute_nested_text;
use crate::server::list::ListKind;
use crate::text::Text;

/// Returns whether the gateway shows a page of a server.
pub(super) fn is_shown(mount: &Mounted, uri: &str) -> bool {
    mount.settings.shows_apps && mount.settings.has_resources && uri_problem(uri).is_none()
}

/// Returns the URI by which callers know a page of a server, or `None` if the gateway does not show it.
pub(super) fn shown_uri(mount: &Mounted, uri: &str) -> Option<String> {
    is_shown(mount, uri).then(|| mount.shown_uri(uri).into_owned())
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
    /// Calls the tool that the page of an app calls `name`. The scopes, the hooks and the approval of the tool apply, as for a call by its name
    /// here.
    pub(super) async fn call_for_app(
        &self,
        name: &str,
        arguments: String,
        cx: &Context,
    ) -> Result<ToolResult, HandlerError> {
        let unknown = || HandlerError::new(unknown_tool(name));
        let shown = self.server_of_app(name, cx).await?.ok_or_else(unknown)?.tool_name(name);
        let tool = self.tool_named(&shown).filter(|tool| tool.access.shows_to(cx.request())).ok_or_else(unknown)?;
        let tools = cx.tools().ok_or_else(unknown)?;
        execute_nested_text(tools.clone(), &Rc::new(tool), arguments, cx).await
    }

    /// Returns the only server whose apps are shown and that has a tool of this name for them.
    ///
    /// # Errors
    /// The list of a server that may have the tool cannot be read. Another server must not get its calls.
    async fn server_of_app(&self, name: &str, cx: &Context) -> Result<Option<Rc<Mounted>>, HandlerError> {
        let mounts = self.0.mounts.iter().filter(|mount| {
            mount.settings.shows_apps && permits(cx.request(), &mount.settings.scopes) && mount.settings.has_tool(name)
        });
        let lists = mounts.map(|mount| async move { (mount, mount.list(ListKind::Tools, cx).await) }.boxed_local());
        let mut found = Vec::new();
        for (mount, list) in parallel(lists, UPSTREAM_PARALLEL).await {
            let list = list?;
            let is_it = |tool: &Definition| {
                let document = Document::parse(tool.raw().as_bytes(), JsonLimits::MOST);
                tool.name() == name && document.is_ok_and(|document| is_for_apps(document.root()))
            };
            if mount.tools(&list, cx).iter().any(|(_, tool)| is_it(tool)) {
                found.push(mount.clone());
            }
        }
        Ok(if found.len() == 1 { found.pop() } else { None })
    }
}
