//! The rules about tools.

use serde_json::Value;

use super::listed::ListedTool;
use super::size::{SizeLimits, tokens};
use crate::protocol::description::is_blank;

/// The maximum number of characters of a description.
const DESCRIPTION: usize = 1024;

/// The number of characters of the name of a tool that models accept, and the longest prefix of a client that was seen.
const NAME: usize = 64;
const PREFIX: usize = 43;

/// The maximum number of characters of the name of an argument.
const ARGUMENT_NAME: usize = 64;

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
