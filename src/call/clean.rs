//! Results without hidden characters and control codes, for tools that return the text of others.

use std::rc::Rc;

use edge_json::{Document, JsonLimits, Kind, Value, write};

use super::failure;
use super::result::ToolResult;
use crate::host::Host;
use crate::protocol::content::Content;
use crate::text::visible;

/// Cleans a result. The error says why this is not possible.
pub(crate) type Clean = fn(ToolResult) -> Result<ToolResult, String>;

/// Cleans the result of the tool `name` with `clean`. If that is not possible, the caller gets an error instead.
pub(crate) fn cleaned_or_failure(clean: Clean, result: ToolResult, name: &str, host: &Rc<dyn Host>) -> ToolResult {
    clean(result).unwrap_or_else(|cause| {
        let cause = format!("the output cannot be cleaned: {cause}");
        failure::of_tool(host, name, &cause, "The tool returned output that cannot be cleaned.")
    })
}

/// Makes all texts of a result [`visible`], and leaves out members with other names: a name that is changed could become one that has a
/// meaning, such as `uri`. Numbers keep their digits.
pub(crate) fn cleaned(mut result: ToolResult) -> Result<ToolResult, String> {
    result.content = result.content.into_iter().map(cleaned_block).collect::<Result<_, _>>()?;
    if let Some(json) = result.structured_content.as_deref()
        && let Some(clean) = cleaned_json(json)?
    {
        result.structured_content = Some(clean.into());
    }
    if let Some(meta) = &mut result.meta
        && let Some(clean) = cleaned_json(&write::to_string(meta).map_err(|error| error.to_string())?)?
    {
        **meta = serde_json::from_str(&clean).map_err(|error| error.to_string())?;
    }
    Ok(result)
}

fn cleaned_block(block: Content) -> Result<Content, String> {
    let json = write::to_string(&block).map_err(|error| error.to_string())?;
    let Some(clean) = cleaned_json(&json)? else { return Ok(block) };
    let clean: Rc<str> = clean.into();
    let document = Document::parse(clean.as_bytes(), JsonLimits::MOST).map_err(|error| error.to_string())?;
    Content::read(document.root(), &clean).ok_or_else(|| "a block is malformed without hidden characters".to_owned())
}

/// Returns the JSON text of the value without hidden characters, or `None` if it has none.
///
/// # Errors
/// The text cannot be read: it is nested too deeply, or a name occurs twice.
fn cleaned_json(json: &str) -> Result<Option<String>, String> {
    let document = Document::parse(json.as_bytes(), JsonLimits::MOST).map_err(|error| error.to_string())?;
    if is_visible(document.root()) {
        return Ok(None);
    }
    let mut clean = String::with_capacity(json.len());
    write_clean(document.root(), &mut clean);
    Ok(Some(clean))
}

/// Returns whether no name and no string in a value has hidden characters. The recursion is bounded by the nesting of JSON.
pub(crate) fn is_visible(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::String => value.as_str().is_none_or(|text| visible(&text) == text),
        Kind::Array => value.items().all(is_visible),
        Kind::Object => value.members().all(|(name, value)| visible(&name) == name && is_visible(value)),
        _ => true,
    }
}

/// The recursion is bounded by the nesting of JSON.
fn write_clean(value: Value<'_>, clean: &mut String) {
    match value.kind() {
        Kind::String => clean.push_str(write::literal(&visible(&value.as_str().unwrap_or_default())).get()),
        Kind::Array => {
            clean.push('[');
            for (index, item) in value.items().enumerate() {
                if index > 0 {
                    clean.push(',');
                }
                write_clean(item, clean);
            }
            clean.push(']');
        }
        Kind::Object => {
            clean.push('{');
            let members = value.members().filter(|(name, _)| visible(name) == *name);
            for (index, (name, member)) in members.enumerate() {
                if index > 0 {
                    clean.push(',');
                }
                clean.push_str(write::literal(&name).get());
                clean.push(':');
                write_clean(member, clean);
            }
            clean.push('}');
        }
        _ => clean.push_str(value.text()),
    }
}
