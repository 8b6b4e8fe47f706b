//! The calls of the pages of apps.
//!
//! A page calls tools by the names that its server gives them. A host sends such a call with this name to the gateway. The call goes to the server
//! of the page, or to none.

use std::rc::Rc;

use edge_json::{Document, JsonLimits};
use futures::FutureExt;

use super::mounted::Mounted;
use super::servers::Gateway;
use super::tools::{may_use_one, tool_named};
use crate::call::client_extensions::ClientSupport;
use crate::call::context::{Context, unknown_tool};
use crate::call::error::HandlerError;
use crate::call::result::ToolResult;
use crate::client::{Definition, Listing, foreign_tool};
use crate::engine::nested::call_tool_with_text;
use crate::protocol::ui;
use crate::server::access::permits;
use crate::server::list::ListKind;
use crate::server::tool::Tool;

/// Returns the tool that the page of an app calls `name`, if there can be one.
pub(super) fn tool(gateway: &Gateway, name: &str) -> Option<Tool> {
    let shows_apps = |mount: &Rc<Mounted>| mount.settings.shows_apps && mount.settings.has_prefix;
    if gateway.mount_of(name).is_some() || !gateway.0.mounts.iter().any(shows_apps) {
        return None;
    }
    let (gateway, called) = (gateway.clone(), name.to_owned());
    Some(foreign_tool(name.to_owned(), None, None, move |arguments, cx| {
        let (gateway, name) = (gateway.clone(), called.clone());
        async move { call_for_app(&gateway, &name, arguments.get().to_owned(), &cx).await }.boxed_local()
    }))
}

/// Calls the tool that the page of an app calls `name`. The scopes, the hooks and the approval of the tool apply, as for a call by its name
/// here.
async fn call_for_app(
    gateway: &Gateway,
    name: &str,
    arguments: String,
    cx: &Context,
) -> Result<ToolResult, HandlerError> {
    let unknown = || HandlerError::new(unknown_tool(name));
    let shown = server_of_app(gateway, name, cx).await?.ok_or_else(unknown)?.tool_name(name);
    let tool = tool_named(gateway, &shown).filter(|tool| tool.access.shows_to(cx.request())).ok_or_else(unknown)?;
    // A tool of this server takes precedence, also if the caller cannot see it.
    let tools = cx.tools().filter(|tools| !tools.has_own_tool(&shown)).ok_or_else(unknown)?;
    call_tool_with_text(tools.clone(), &Rc::new(tool), arguments, cx).await
}

/// Returns the server whose page calls `name`: the only server with apps whose list has this name.
///
/// The request does not say which page it comes from. So the names of all servers count before any filter: a tool that is held back, or that the
/// caller cannot use, must not make the tool of another server the only one.
///
/// # Errors
/// The list of a server that may have the tool is not complete. Another server must not get its calls.
async fn server_of_app(gateway: &Gateway, name: &str, cx: &Context) -> Result<Option<Rc<Mounted>>, HandlerError> {
    if matches!(cx.client_supports(ui::EXTENSION), ClientSupport::No) {
        return Ok(None);
    }
    let may_have_it = |mount: &Mounted| mount.settings.shows_apps && mount.settings.has_tool(name);
    let (mut named, mut incomplete) = (Vec::new(), None);
    for (mount, list) in gateway.lists_of(ListKind::Tools, cx, may_have_it).await {
        let problem = match list {
            Ok(list) if list.items.iter().any(|tool| tool.name() == name) => {
                named.push((mount, list));
                continue;
            }
            Ok(list) if is_complete(&list) => continue,
            Ok(_) => {
                format!("`{name}` is not called, because the list of the server `{}` is not complete.", mount.name)
            }
            Err(problem) => problem,
        };
        // A caller who cannot use a server does not learn of it.
        let is_known = may_use_one(&mount, cx);
        incomplete.get_or_insert_with(|| if is_known { problem } else { unknown_tool(name) });
    }
    if let Some(problem) = incomplete {
        return Err(HandlerError::new(problem));
    }
    let [(mount, list)] = &*named else { return Ok(None) };
    let is_for_apps = |tool: &Definition| {
        let document = Document::parse(tool.raw().as_bytes(), JsonLimits::MOST);
        tool.name() == name && document.is_ok_and(|document| ui::is_for_apps(document.root()))
    };
    let is_shown = permits(cx.request(), &mount.settings.scopes)
        && mount.tools(list, cx).iter().any(|(_, tool)| is_for_apps(tool));
    Ok(is_shown.then(|| mount.clone()))
}

/// Returns whether a list has the names of all tools of its server.
fn is_complete(list: &Listing) -> bool {
    !list.is_truncated && !list.is_stale && list.left_out.is_empty()
}
