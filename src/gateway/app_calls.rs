//! The calls of the pages of apps.
//!
//! A page calls tools by the names that its server gives them. A host sends such a call with this name to the gateway.

use std::rc::Rc;

use edge_json::{Document, JsonLimits, Value};
use futures::FutureExt;
use serde_json::value::RawValue;

use super::mounted::Mounted;
use super::servers::Gateway;
use super::tools::{object_of, tool_named};
use crate::call::context::{Context, unknown_tool};
use crate::call::error::HandlerError;
use crate::call::result::ToolResult;
use crate::client::Definition;
use crate::limits::UPSTREAM_PARALLEL;
use crate::parallel::parallel;
use crate::protocol::ui::is_for_apps;
use crate::schema::{Schema, SchemaError};
use crate::server::access::permits;
use crate::server::list::ListKind;
use crate::server::nested::execute_nested_text;
use crate::server::tool::Tool;
use crate::server::tool_handler::{AnyToolHandler, ToolFuture};
use crate::text::Text;

/// Calls a tool by its name at the server, for the page of an app. Only the lists show which server it is.
struct ToolForApps {
    gateway: Gateway,
    name: String,
}

/// Returns the tool that the page of an app calls `name`, if there can be one.
pub(super) fn tool(gateway: &Gateway, name: &str) -> Option<Tool> {
    let shows_apps = |mount: &Rc<Mounted>| mount.settings.shows_apps && mount.settings.has_prefix;
    if gateway.mount_of(name).is_some() || !gateway.0.mounts.iter().any(shows_apps) {
        return None;
    }
    let handler = ToolForApps { gateway: gateway.clone(), name: name.to_owned() };
    Some(Tool::of_handler(name.to_owned().into(), Text::Borrowed(""), Box::new(handler)))
}

impl AnyToolHandler for ToolForApps {
    fn input_schema(&self) -> Result<Rc<Schema>, SchemaError> {
        Ok(Schema::unenforced(RawValue::NULL.to_owned(), true))
    }

    fn output_schema(&self) -> Option<Result<Rc<Schema>, SchemaError>> {
        None
    }

    fn call(&self, arguments: Value<'_>, cx: Context) -> Result<ToolFuture, String> {
        let (gateway, name, arguments) = (self.gateway.clone(), self.name.clone(), object_of(arguments)?);
        Ok(async move { call_for_app(&gateway, &name, arguments.get().to_owned(), &cx).await }.boxed_local())
    }
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
    execute_nested_text(tools.clone(), &Rc::new(tool), arguments, cx).await
}

/// Returns the only server whose apps are shown and that has a tool of this name for them.
///
/// # Errors
/// The list of a server that may have the tool cannot be read. Another server must not get its calls.
async fn server_of_app(gateway: &Gateway, name: &str, cx: &Context) -> Result<Option<Rc<Mounted>>, HandlerError> {
    let mounts = gateway.0.mounts.iter().filter(|mount| {
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
