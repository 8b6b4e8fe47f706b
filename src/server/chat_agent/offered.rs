//! The tools that a model is offered: of those that the agent was given, the ones that the caller could call.

use std::rc::Rc;

use serde_json::{Value, json};

use crate::limits::AGENT_DESCRIPTION;
use crate::protocol::description::Text;
use crate::schema::Schema;
use crate::server::access::permits;
use crate::server::context::Context;
use crate::server::tool::Tool;

/// The name that a model calls a tool by: endpoints know no dots in names.
pub(super) fn wire_name(name: &str) -> String {
    name.replace('.', "_")
}

/// A tool that the model may call.
pub(super) struct Offered<'s> {
    tool: &'s Tool,
    wire_name: String,
    schema: Rc<Schema>,
}

impl Offered<'_> {
    pub(super) fn name(&self) -> &Text {
        &self.tool.face.name
    }

    /// Whether a model means it by `name`: some write a name as they have read it elsewhere.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.wire_name == name || self.tool.face.name == name
    }

    pub(super) fn wire_name(&self) -> &str {
        &self.wire_name
    }

    /// What the model is told of it.
    pub(super) fn offer(&self) -> Value {
        let description = self.tool.face.description.as_deref().unwrap_or_default();
        let description = description.get(..description.floor_char_boundary(AGENT_DESCRIPTION)).unwrap_or_default();
        let function = json!({ "name": self.wire_name, "description": description, "parameters": self.schema.value() });
        json!({ "type": "function", "function": function })
    }
}

/// Of the tools of these names, those that are there for this caller, and that it has the scopes for.
pub(super) fn offered<'s>(names: &[Text], cx: &'s Context) -> Vec<Offered<'s>> {
    let tools = names.iter().filter_map(|name| cx.server()?.tool(name));
    let callable = tools.filter(|tool| permits(cx.auth(), &tool.access.scopes));
    let offer = |tool: &'s Tool| {
        Some(Offered { tool, wire_name: wire_name(&tool.face.name), schema: tool.input_schema().ok()? })
    };
    callable.filter_map(offer).collect()
}
