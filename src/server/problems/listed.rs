//! A tool as `tools/list` has it.

use std::borrow::Cow;

use serde_json::Value;

use super::schemas::{Position, positions};
use super::size::ToolSize;
use crate::protocol::description::{ToolAnnotations, ToolDescription};
use crate::server::tool::Tool;

/// A tool as `tools/list` has it in the newest revision.
pub(super) struct ListedTool<'t> {
    pub tool: &'t Tool,
    pub input: Value,
    pub bytes: usize,
}

impl<'t> ListedTool<'t> {
    /// Describes a tool of a server that was built, so its schemas are valid.
    pub(super) fn new(tool: &'t Tool) -> Option<Self> {
        let (input, output) = (tool.input_schema().ok()?, tool.published_output().ok()?);
        let annotations = &tool.annotations;
        let description = ToolDescription {
            metadata: &tool.metadata,
            input_schema: input.json(),
            output_schema: output.as_ref().map(|schema| schema.json()),
            annotations: (*annotations != ToolAnnotations::default()).then_some(Cow::Borrowed(annotations)),
        };
        let bytes = serde_json::to_vec(&description).ok()?.len();
        Some(Self { tool, input: serde_json::from_str(input.json().get()).ok()?, bytes })
    }

    pub(super) fn place(&self) -> String {
        format!("tool `{}`", self.tool.name())
    }

    /// Returns the first problem that `test` finds in the input schema, as the predicate of a sentence.
    pub(super) fn first_schema_problem(&self, test: fn(&Position<'_>) -> Option<String>) -> Option<String> {
        let problem = |at: &Position<'_>| {
            let found = test(at)?;
            Some(format!("has an input schema in which {} {found}", at.shown()))
        };
        positions(&self.input).iter().find_map(problem)
    }

    pub(super) fn size(&self) -> ToolSize {
        ToolSize { name: self.tool.name().to_owned(), bytes: self.bytes }
    }
}
