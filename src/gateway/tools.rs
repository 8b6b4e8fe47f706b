//! Mounted tools.

use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;

use edge_json::{Document, JsonLimits, Kind, Value};
use futures::FutureExt;
use serde_json::value::RawValue;

use super::mounted::Mounted;
use super::names::{is_shown, may_be_hashed};
use super::servers::Gateway;
use super::{apps, content};
use crate::call::context::{Context, unknown_tool};
use crate::call::error::HandlerError;
use crate::call::passed_task::PassedTask;
use crate::call::result::ToolResult;
use crate::client::{Called, ClientError, Definition, OutputSchema, Peer};
use crate::limits::{GATEWAY_DESCRIPTION, GATEWAY_LOG_BYTES};
use crate::protocol::description::Icon;
use crate::protocol::error::INTERNAL;
use crate::protocol::foreign::read_meta;
use crate::protocol::meta::LOG_LEVEL;
use crate::protocol::ui;
use crate::schema::{Schema, SchemaError};
use crate::server::list::ListKind;
use crate::server::tool::Tool;
use crate::server::tool_handler::{AnyToolHandler, ToolFuture};
use crate::text::{Text, line, visible};

/// The tool of a server that a name stands for.
#[derive(Clone)]
pub(super) enum Named {
    /// The tool with this name at the server.
    AtServer(String),
    /// The tool of the server whose list has this name here. A hash does not say which tool it is, and a server may read a name that resembles
    /// another one as that one.
    InList(String),
}

/// The warning about a server with sessions.
const SESSIONS: &str =
    "it has sessions, and each call has a session of its own. What a tool keeps in its session is lost with the call";

/// The schemas of a listed tool. The rest of its definition is freed before the list is written.
struct Listed {
    input: Option<Rc<Schema>>,
    output: Option<Rc<OutputSchema>>,
    /// The context of the list.
    cx: Context,
}

/// Calls a tool of a mounted server.
struct MountedTool {
    mount: Rc<Mounted>,
    named: Named,
    /// `None` if the tool was not listed in this request.
    listed: Option<Listed>,
    must_be_read_only: bool,
}

/// Returns the tool that callers know as `name`. It sends nothing.
pub(super) fn tool_named(gateway: &Gateway, name: &str) -> Option<Tool> {
    routed(gateway, name, false)
}

/// Returns the tool that callers know as `name`. It is called only if the program declares it read-only, or if the program trusts its server
/// and the server does so.
pub(super) fn read_only_tool_named(gateway: &Gateway, name: &str) -> Option<Tool> {
    let tool = tool_named(gateway, name)?;
    if tool.annotations.read_only_hint == Some(true) {
        return Some(tool);
    }
    // A tool that the program declares destructive or additive modifies data, whatever its server says.
    if tool.annotations.destructive_hint.is_some() { None } else { routed(gateway, name, true) }
}

fn routed(gateway: &Gateway, name: &str, must_be_read_only: bool) -> Option<Tool> {
    let (mount, named) = route(gateway, name)?;
    let tool = unlisted_tool(mount, name, named, must_be_read_only);
    Some(if must_be_read_only { tool.read_only() } else { tool })
}

/// Returns the tool that callers know as `name`, without its definition.
fn unlisted_tool(mount: &Rc<Mounted>, name: &str, named: Named, must_be_read_only: bool) -> Tool {
    let handler = MountedTool { mount: mount.clone(), named, listed: None, must_be_read_only };
    configured(mount, Tool::of_handler(name.to_owned().into(), Text::Borrowed(""), Box::new(handler)))
}

/// Returns the tool that callers know as `name`, with the settings of the program, for what does not call it.
pub(super) fn settings_of(mount: &Rc<Mounted>, name: &str) -> Tool {
    unlisted_tool(mount, name, Named::InList(name.to_owned()), false)
}

/// Returns whether the caller of `cx` can use a tool of the server, as far as the settings of the program show it.
pub(super) fn may_use_one(mount: &Rc<Mounted>, cx: &Context) -> bool {
    let may_use = |name: &str| settings_of(mount, &mount.tool_name(name)).access.permits(cx.request());
    mount.settings.some_tools().into_iter().any(may_use)
}

fn route<'g>(gateway: &'g Gateway, name: &str) -> Option<(&'g Rc<Mounted>, Named)> {
    let (mount, rest) = gateway.mount_of(name)?;
    if !is_shown(name, mount.longest_name) {
        return None;
    }
    let named = if may_be_hashed(rest) || mount.settings.resembles_another(rest) {
        Named::InList(name.to_owned())
    } else {
        let own = mount.settings.renamed(rest).unwrap_or(rest);
        // A renamed tool is known only by its new name, and a long one by its hash.
        if mount.tool_name(own) != name || !mount.settings.has_tool(own) {
            return None;
        }
        Named::AtServer(own.to_owned())
    };
    Some((mount, named))
}

/// Returns the tool of the server `mount` for a definition.
pub(super) fn listed_tool(mount: &Rc<Mounted>, name: String, listed: &Definition, cx: &Context) -> Tool {
    let handler = MountedTool {
        mount: mount.clone(),
        named: Named::AtServer(listed.name().to_owned()),
        listed: Some(Listed {
            input: listed.input().cloned(),
            output: listed.listed_output().cloned(),
            cx: cx.clone(),
        }),
        must_be_read_only: false,
    };
    let description = shortened(listed.description());
    let mut tool = Tool::of_handler(name.into(), description.into(), Box::new(handler));
    tool.metadata.title = listed.title().map(|title| title.to_owned().into());
    if let Ok(document) = Document::parse(listed.raw().as_bytes(), JsonLimits::MOST) {
        tool = described(mount, tool, listed, document.root());
    }
    configured(mount, tool)
}

/// Adds what a definition says of a tool: icons, annotations, `_meta` and the user interface.
fn described(mount: &Mounted, mut tool: Tool, listed: &Definition, definition: Value<'_>) -> Tool {
    tool.metadata.icons = icons(definition);
    let annotations = &mut tool.annotations;
    let title = definition.get("annotations").and_then(|annotations| annotations.string("title"));
    annotations.title = title.map(|title| visible(&title).into());
    if mount.settings.is_trusted {
        let hint = |name: &str| {
            let hint = definition.get("annotations")?.get(name).filter(|hint| hint.kind() == Kind::Boolean)?;
            Some(hint.text() == "true")
        };
        annotations.read_only_hint = hint("readOnlyHint");
        annotations.destructive_hint = hint("destructiveHint");
        annotations.idempotent_hint = hint("idempotentHint");
        annotations.open_world_hint = hint("openWorldHint");
    } else {
        annotations.set_effect(false, true);
        annotations.open_world_hint = Some(true);
    }
    let meta = read_meta(definition).map(|mut meta| {
        meta.retain(|name, _| name != ui::UI && name != ui::FLAT_RESOURCE_URI);
        apps::remove_keys_of_clients(mount, &mut meta);
        meta
    });
    tool.metadata.meta = meta.filter(|meta| !meta.is_empty());
    if let Some(uri) = listed.app_uri().and_then(|uri| apps::shown_uri(mount, uri)) {
        tool = tool.with_app(uri.into());
    }
    match () {
        () if listed.is_for_app_only() => tool.for_app_only(),
        // To a client, all tools here are those of one server, and the pages of each mount could call them.
        () if mount.is_beside_apps && !(mount.settings.shows_apps && ui::is_for_apps(definition)) => {
            tool.for_model_only();
            tool
        }
        () => tool,
    }
}

/// Returns the icons whose URLs a client may load.
pub(super) fn icons(definition: Value<'_>) -> Vec<Icon> {
    const IMAGES: [&str; 4] = ["https://", "data:image/png", "data:image/jpeg", "data:image/webp"];
    let icons = definition.get("icons").into_iter().flat_map(Value::items).filter_map(Icon::read);
    icons.filter(|icon| icon.is_well_formed() && IMAGES.iter().any(|start| icon.src.starts_with(start))).collect()
}

/// Returns a description of at most 4 KiB.
pub(super) fn shortened(text: &str) -> String {
    let end = text.floor_char_boundary(GATEWAY_DESCRIPTION);
    let cut = text.get(..end).unwrap_or_default();
    if cut.len() < text.len() { format!("{cut}…") } else { cut.to_owned() }
}

fn configured(mount: &Mounted, tool: Tool) -> Tool {
    let tool = tool.scopes(mount.settings.scopes.iter().cloned());
    match &mount.settings.each_tool {
        Some(change) => change(tool),
        None => tool,
    }
}

impl AnyToolHandler for MountedTool {
    fn input_schema(&self) -> Result<Rc<Schema>, SchemaError> {
        let known = self.listed.as_ref().and_then(|listed| listed.input.clone());
        Ok(known.unwrap_or_else(|| Schema::unenforced(RawValue::NULL.to_owned(), true)))
    }

    /// Returns the output schema for a list. The client of the caller checks each result, so the schema is not enforced here.
    fn output_schema(&self) -> Option<Result<Rc<Schema>, SchemaError>> {
        let Listed { output, cx, .. } = self.listed.as_ref()?;
        output.as_ref()?.published(&cx.request().foreign_steps().compilation, cx.host()).map(Ok)
    }

    fn mount(&self) -> Option<Rc<dyn Any>> {
        Some(self.mount.clone())
    }

    fn call(&self, arguments: Value<'_>, cx: Context) -> Result<ToolFuture, String> {
        let arguments = object_of(arguments)?;
        let (mount, named, must_be_read_only) = (self.mount.clone(), self.named.clone(), self.must_be_read_only);
        let call = async move {
            let peer = mount.connect(&cx)?;
            let call = call(&mount, &peer, &named, arguments, must_be_read_only, &cx);
            mount.guard(&peer, &cx, call).await?
        };
        Ok(call.boxed_local())
    }
}

/// Returns the text of arguments, which are passed on as the caller wrote them.
///
/// # Errors
/// They are not an object. A tool that calls this one does not check this.
pub(super) fn object_of(arguments: Value<'_>) -> Result<Box<RawValue>, String> {
    let arguments = Some(arguments).filter(|arguments| arguments.kind() == Kind::Object).and_then(Value::to_raw);
    arguments.ok_or_else(|| "they must be an object".to_owned())
}

/// Calls a tool. The outer error is that of a request, and the inner one says why the tool was not called.
async fn call(
    mount: &Rc<Mounted>,
    peer: &Peer,
    named: &Named,
    arguments: Box<RawValue>,
    must_be_read_only: bool,
    cx: &Context,
) -> Result<Result<ToolResult, HandlerError>, ClientError> {
    let own = match own_name(mount, peer, named, must_be_read_only, cx).await? {
        Ok(own) => own,
        Err(problem) => return Ok(Err(HandlerError::new(problem))),
    };
    let mut call = peer.call(&own, arguments).ask_caller(cx).cancel_late_task();
    if cx.meta("progressToken").is_some() {
        let caller = cx.clone();
        call =
            call.on_progress(move |it| caller.progress(it.progress, it.total, it.message.clone().unwrap_or_default()));
    }
    if let Some(lowest) = mount.settings.logs.filter(|_| wants_logs(cx)) {
        let (caller, name, left) = (cx.clone(), mount.name.clone(), Cell::new(GATEWAY_LOG_BYTES));
        call = call.on_log(lowest, move |message| {
            let logger = message
                .logger
                .as_ref()
                .map_or_else(|| name.to_string(), |logger| format!("{name}/{}", line(logger, 64)));
            let bytes = edge_json::write::text(&message.data).len();
            if let Some(rest) = left.get().checked_sub(bytes) {
                left.set(rest);
                caller.log_as(message.level, &logger, &message.data);
            }
        });
    }
    let shown = match named {
        Named::AtServer(own) => mount.tool_name(own),
        Named::InList(shown) => shown.clone(),
    };
    let passing = cx.tools().and_then(|tools| tools.passed_tasks());
    let longest = passing.and_then(|passing| passing.longest_id(&mount.name, &shown, cx));
    let called = call.result_or_task(longest).await?;
    if peer.has_session() {
        mount.warn(cx, SESSIONS);
    }
    Ok(match (called, passing) {
        (Called::Result(result), _) => Ok(content::shown_result(mount, result.into_tool_result())),
        (Called::Task(remote, members), Some(passing)) => {
            let task = PassedTask { mount: mount.name.to_string(), tool: shown, id: remote.id().to_owned() };
            passing.describe(&task, &members, cx).map(ToolResult::of_task)
        }
        // Without a way to pass a task on, the client waits for it.
        (Called::Task(..), None) => Err(HandlerError::new(INTERNAL)),
    })
}

/// Returns the name at the server of the tool to call, or the reason why there is none. It asks for the list of tools only if the name does not
/// decide.
async fn own_name(
    mount: &Mounted,
    peer: &Peer,
    named: &Named,
    must_be_read_only: bool,
    cx: &Context,
) -> Result<Result<String, String>, ClientError> {
    let (Named::AtServer(name) | Named::InList(name)) = named;
    let is_decided = matches!(named, Named::AtServer(_)) && !must_be_read_only && !mount.settings.pins.concern(name);
    if is_decided {
        return Ok(Ok(name.clone()));
    }
    let list = mount.fresh_list(ListKind::Tools, peer).await?;
    let tools = mount.tools(&list, cx);
    let is_it = |(shown, tool): &&(String, &Definition)| match named {
        Named::InList(name) => shown == name,
        Named::AtServer(own) => tool.name() == own,
    };
    Ok(match tools.iter().find(is_it) {
        None => Err(unknown_tool(name)),
        Some((shown, tool)) if must_be_read_only && !is_read_only(mount, tool) => {
            Err(format!("The tool `{shown}` is not known to be read-only. Call it with call-tool."))
        }
        Some((_, tool)) => Ok(tool.name().to_owned()),
    })
}

/// Returns whether the caller gets log messages. A caller of an older revision gets those of the level that the server declares.
fn wants_logs(cx: &Context) -> bool {
    cx.revision().era() == crate::protocol::revision::Era::Legacy || cx.meta(LOG_LEVEL).is_some()
}

/// Returns whether the program trusts the server that the tool is read-only, and the server says so.
fn is_read_only(mount: &Mounted, tool: &Definition) -> bool {
    mount.settings.is_trusted && tool.has_hint("readOnlyHint") && !tool.has_hint("destructiveHint")
}
