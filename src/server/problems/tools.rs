//! Tools as `tools/list` has them in the newest revision: their sizes, and the rules about them.

use std::borrow::Cow;

use serde_json::Value;

use super::schemas::{Position, positions};
use crate::protocol::description::{ToolAnnotations, ToolDescription, is_blank};
use crate::server::tool::Tool;

/// The maximum number of characters of a description.
const DESCRIPTION: usize = 1024;

/// The number of characters of the name of a tool that models accept, and the longest prefix of a client that was seen.
const NAME: usize = 64;
const PREFIX: usize = 43;

/// The maximum number of characters of the name of an argument.
const ARGUMENT_NAME: usize = 64;

/// The size of a tool in `tools/list` of the newest revision.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolSize {
    /// The name of the tool.
    pub name: String,
    /// The number of bytes of JSON.
    pub bytes: usize,
}

impl ToolSize {
    /// Returns the estimated number of tokens: one for 4 bytes.
    pub fn tokens(&self) -> usize {
        tokens(self.bytes)
    }
}

/// The largest sizes that the check accepts, in estimated tokens.
///
/// ```
/// use edge_mcp::check::SizeLimits;
///
/// let mut limits = SizeLimits::default();
/// limits.tool_tokens = 2000;
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SizeLimits {
    /// The tokens of one tool. The default is 1000: a tenth of the tokens of all tools.
    pub tool_tokens: usize,
    /// The tokens of all tools. The default is 10 000, which Claude's documentation gives for 50 tools.
    pub tokens: usize,
}

impl Default for SizeLimits {
    fn default() -> Self {
        Self { tool_tokens: 1000, tokens: 10_000 }
    }
}

/// Returns the number of bytes of a list of tools with these sizes: a comma between two tools, and `{"tools":[]}` around them.
pub(super) fn list_bytes(tools: impl ExactSizeIterator<Item = usize>) -> usize {
    let around = r#"{"tools":[]}"#.len().saturating_add(tools.len().saturating_sub(1));
    tools.fold(around, usize::saturating_add)
}

/// Estimates the number of tokens of JSON in English.
///
/// Source: <https://help.openai.com/en/articles/4936856-what-are-tokens-and-how-to-count-them>, "1 token ~= 4 chars in English".
pub(super) fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(4)
}

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

pub(super) fn title(listed: &ListedTool<'_>, _: SizeLimits) -> Option<String> {
    let tool = listed.tool;
    let titles = [&tool.metadata.title, &tool.annotations.title];
    let has_title = titles.into_iter().flatten().any(|title| !is_blank(title));
    (!has_title).then(|| "has no title: call `Tool::title`".into())
}

pub(super) fn effect(listed: &ListedTool<'_>, _: SizeLimits) -> Option<String> {
    let annotations = &listed.tool.annotations;
    let has_both = annotations.read_only_hint.is_some() && annotations.destructive_hint.is_some();
    (!has_both).then(|| "does not say what it does to data: call `Tool::read_only`, `additive` or `destructive`".into())
}

pub(super) fn open_world(listed: &ListedTool<'_>, _: SizeLimits) -> Option<String> {
    let is_missing = listed.tool.annotations.open_world_hint.is_none();
    is_missing.then(|| "does not say whether it uses other systems: call `Tool::closed_world` or `open_world`".into())
}

pub(super) fn name(listed: &ListedTool<'_>, _: SizeLimits) -> Option<String> {
    let has_dot = listed.tool.name().contains('.');
    has_dot.then(|| "has a `.` in its name, which models do not accept: replace it by `_` or `-`".into())
}

pub(super) fn name_prefix(listed: &ListedTool<'_>, _: SizeLimits) -> Option<String> {
    let (length, most) = (listed.tool.name().len(), NAME.saturating_sub(PREFIX));
    (length > most).then(|| {
        format!("has a name of {length} characters, which can exceed {NAME} with the prefix of a client: shorten it to {most}")
    })
}

pub(super) fn description(listed: &ListedTool<'_>, _: SizeLimits) -> Option<String> {
    let length = listed.tool.metadata.description.as_deref().unwrap_or_default().chars().count();
    (length > DESCRIPTION).then(|| {
        format!(
            "has a description of {length} characters: shorten it to {DESCRIPTION}, and move details to the arguments"
        )
    })
}

pub(super) fn argument_descriptions(listed: &ListedTool<'_>, _: SizeLimits) -> Option<String> {
    let is_described = |argument: &Value| {
        let own = argument.get("description").and_then(Value::as_str);
        own.is_some_and(|text| !is_blank(text))
    };
    let (name, _) = arguments(listed).find(|(_, argument)| !is_described(argument))?;
    Some(format!("has the argument `{name}` without a description: add a doc comment to the field"))
}

pub(super) fn argument_names(listed: &ListedTool<'_>, _: SizeLimits) -> Option<String> {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    let is_valid = |name: &str| (1..=ARGUMENT_NAME).contains(&name.len()) && name.bytes().all(is_known);
    let (name, _) = arguments(listed).find(|(name, _)| !is_valid(name))?;
    Some(format!(
        "has the argument `{name}`, which models do not accept: rename it to at most {ARGUMENT_NAME} of `A-Z a-z 0-9 _ . -`"
    ))
}

pub(super) fn size(listed: &ListedTool<'_>, limits: SizeLimits) -> Option<String> {
    let (tokens, most) = (tokens(listed.bytes), limits.tool_tokens);
    (tokens > most).then(|| {
        format!("has about {tokens} tokens: shorten its texts and schemas to {most} tokens, or split the tool")
    })
}

/// Returns the names and schemas of the arguments.
fn arguments<'t>(listed: &'t ListedTool<'_>) -> impl Iterator<Item = (&'t String, &'t Value)> {
    listed.input.get("properties").and_then(Value::as_object).into_iter().flatten()
}
