//! The tools that a model may call: the agent's tools, without those that the caller cannot call.

use std::rc::Rc;

use edge_json::object;
use futures::FutureExt;
use serde_json::Value;

use crate::call::context::{CallTools, CallableTool, Context};
use crate::call::error::HandlerError;
use crate::call::result::ToolResult;
use crate::engine::nested::call_tool;
use crate::limits::AGENT_DESCRIPTION;
use crate::server::tool::Tool;
use crate::text::Text;

/// Returns the name of a tool in chat completions, which do not allow dots in names.
pub(super) fn wire_name(name: &str) -> String {
    name.replace('.', "_")
}

/// A tool that the model may call.
pub(super) struct Offered {
    tool: CallableTool,
    /// The input schema.
    parameters: Value,
    wire_name: String,
    /// The tool itself, if a source of the agent found it, and the server whose hooks see its calls.
    found: Option<(Rc<dyn CallTools>, Rc<Tool>)>,
}

impl Offered {
    /// Returns the tool, or `None` if its input schema is not an object.
    fn new(tool: CallableTool) -> Option<Self> {
        let parameters = tool.input.to_value().filter(Value::is_object)?;
        Some(Self { wire_name: wire_name(&tool.name), parameters, tool, found: None })
    }

    /// Returns a tool that a source found, or `None` if its input schema is not an object.
    pub(super) fn found(callable: CallableTool, server: Rc<dyn CallTools>, tool: Rc<Tool>) -> Option<Self> {
        Some(Self { found: Some((server, tool)), ..Self::new(callable)? })
    }

    /// Calls the tool for the caller of `cx`.
    pub(super) async fn call(&self, arguments: Value, cx: &Context) -> Result<ToolResult, HandlerError> {
        if let Some((server, tool)) = &self.found {
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
pub(super) fn offered(names: &[Text], cx: &Context) -> Vec<Offered> {
    let mut offered = Vec::new();
    for tool in names.iter().filter_map(|name| cx.tools()?.callable(name, cx)) {
        offered.extend(Offered::new(tool));
    }
    offered
}
