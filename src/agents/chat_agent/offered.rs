//! The tools that a model may call: the agent's tools and those of its sources, without those that the caller cannot call.

use std::rc::Rc;

use edge_json::{object, write};
use futures::FutureExt;
use serde_json::Value;

use crate::agents::agent::Missing;
use crate::call::context::{CallTools, CallableTool, Context};
use crate::call::error::HandlerError;
use crate::call::result::ToolResult;
use crate::engine::nested::call_tool;
use crate::host::log;
use crate::limits::{AGENT_DESCRIPTION, AGENT_FOUND_BYTES, AGENT_FOUND_TOOLS};
use crate::server::list::ListKind;
use crate::server::source::Source;
use crate::server::tool::Tool;
use crate::text::{Text, shortened};

/// The longest name of a function in chat completions.
const NAME: usize = 64;

/// Returns the name of a tool in chat completions, which do not allow dots in names.
pub(super) fn wire_name(name: &str) -> String {
    name.replace('.', "_")
}

/// A tool that the model may call.
pub(super) struct AgentTool {
    tool: CallableTool,
    /// The input schema.
    parameters: Value,
    wire_name: String,
    /// The tool itself, if a source of the agent found it, and the server whose hooks see its calls.
    of_source: Option<(Rc<dyn CallTools>, Rc<Tool>)>,
}

impl AgentTool {
    /// Returns the tool, or `None` if its input schema is not an object.
    fn new(tool: CallableTool) -> Option<Self> {
        let parameters = tool.input.to_value().filter(Value::is_object)?;
        Some(Self { wire_name: wire_name(&tool.name), parameters, tool, of_source: None })
    }

    /// Returns a tool that a source found, or `None` if its input schema is not an object.
    fn of_source(callable: CallableTool, server: Rc<dyn CallTools>, tool: Rc<Tool>) -> Option<Self> {
        Some(Self { of_source: Some((server, tool)), ..Self::new(callable)? })
    }

    /// Calls the tool for the caller of `cx`.
    pub(super) async fn call(&self, arguments: Value, cx: &Context) -> Result<ToolResult, HandlerError> {
        if let Some((server, tool)) = &self.of_source {
            // Boxed, because only agents with a source need the future.
            return call_tool(server.clone(), tool, arguments, cx).boxed_local().await;
        }
        cx.call_tool(self.name(), arguments).await
    }

    pub(super) fn name(&self) -> &Text {
        &self.tool.name
    }

    /// Returns whether `name` names this tool. Some models use the original name of the tool, for example from the instructions.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.wire_name == name || self.tool.name == name
    }

    pub(super) fn wire_name(&self) -> &str {
        &self.wire_name
    }

    /// Describes the tool for the model.
    pub(super) fn offer(&self) -> Value {
        let description = &self.tool.description;
        let description = description.get(..description.floor_char_boundary(AGENT_DESCRIPTION)).unwrap_or_default();
        let (name, parameters) = (self.wire_name.as_str().into(), self.parameters.clone());
        let function = object(vec![("name", name), ("description", description.into()), ("parameters", parameters)]);
        object(vec![("type", "function".into()), ("function", function)])
    }
}

/// Returns the tools with these names that exist for the caller and whose scopes the caller has.
pub(super) fn own_tools(names: &[Text], cx: &Context) -> Vec<AgentTool> {
    let mut offered = Vec::new();
    for tool in names.iter().filter_map(|name| cx.tools()?.callable(name, cx)) {
        offered.extend(AgentTool::new(tool));
    }
    offered
}

/// Adds the tools that the sources find for the caller of `cx`, and returns also what is missing. A caller who must sign in to a server is asked
/// to. The log has the parts of a source that failed and the tools that are left out.
pub(super) async fn with_sources(
    mut offered: Vec<AgentTool>,
    sources: &dyn Source,
    cx: &Context,
) -> (Vec<AgentTool>, Missing) {
    // An agent that the program calls without a server has no tools.
    let Some(server) = cx.tools() else { return (offered, Missing::default()) };
    let found = sources.find(ListKind::Tools, cx).await;
    #[cfg(feature = "client")]
    let found = found.signed_in(cx).await;
    let missing = found.missing_parts().collect();
    let warn = |problem: &str| log::warning(cx.host(), "agent", problem);
    for problem in found.problems() {
        warn(&without_links(problem));
    }
    let (mut count, mut bytes) = (0_usize, 0_usize);
    for tool in found.tools.into_iter().filter(|tool| tool.access.permits(cx.request())) {
        let Some(callable) = tool.callable() else { continue };
        let name = callable.name.clone();
        let next = match problem(&callable, &offered) {
            _ if tool.is_for_app_only() => Err("is for user interfaces only"),
            Some(problem) => Err(problem),
            None => AgentTool::of_source(callable, server.clone(), tool).ok_or("has no input schema"),
        };
        let next = match next {
            Ok(next) => next,
            Err(problem) => {
                warn(&format!("the agent was not offered the tool `{}`, which {problem}", shortened(&name)));
                continue;
            }
        };
        bytes = bytes.saturating_add(write::text(&next.offer()).len());
        if count >= AGENT_FOUND_TOOLS || bytes > AGENT_FOUND_BYTES {
            warn("the agent was not offered all tools of its sources, because they have too many or too long ones");
            break;
        }
        count = count.saturating_add(1);
        offered.push(next);
    }
    (offered, missing)
}

/// Returns a problem without its links. The link of a sign-in is only for the caller.
fn without_links(problem: &str) -> String {
    let words = problem.split(' ').map(|word| if word.contains("://") { "(link)" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns why the model cannot be offered a tool next to the tools in `offered`.
fn problem(tool: &CallableTool, offered: &[AgentTool]) -> Option<&'static str> {
    let name = wire_name(&tool.name);
    let is_function = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if name.is_empty() || name.len() > NAME || !name.bytes().all(is_function) {
        Some("has a name that chat completions do not allow")
    } else if offered.iter().any(|other| other.is_called(&name) || other.is_called(&tool.name)) {
        Some("has the name of an earlier tool")
    } else {
        None
    }
}
