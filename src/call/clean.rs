//! Results without hidden characters and control codes, for tools that return the text of others.

use std::collections::BTreeSet;
use std::rc::Rc;

use edge_json::{Document, JsonLimits, Kind, Value, write};

use super::result::ToolResult;
use crate::protocol::content::Content;
use crate::text::{make_visible, visible};

/// Makes all texts and names of a result [`visible`]. Numbers keep their digits.
pub(crate) fn cleaned(mut result: ToolResult) -> ToolResult {
    result.content = result.content.into_iter().map(cleaned_block).collect();
    if let Some(clean) = result.structured_content.as_deref().and_then(cleaned_json) {
        result.structured_content = Some(clean.into());
    }
    for value in result.meta.iter_mut().flat_map(|meta| meta.values_mut()) {
        make_visible(value);
    }
    result
}

fn cleaned_block(block: Content) -> Content {
    // A block that cannot be written stays: the response fails with the reason.
    let json = write::to_string(&block).ok();
    let clean: Option<Rc<str>> = json.as_deref().and_then(cleaned_json).map(Into::into);
    let document = clean.as_deref().and_then(|clean| Document::parse(clean.as_bytes(), JsonLimits::MOST).ok());
    let clean = document.and_then(|document| Content::read(document.root(), clean.as_ref()?));
    clean.unwrap_or(block)
}

/// Returns the JSON text of the value with clean texts and names, or `None` if they are clean.
fn cleaned_json(json: &str) -> Option<String> {
    let document = Document::parse(json.as_bytes(), JsonLimits::MOST).ok()?;
    if is_clean(document.root()) {
        return None;
    }
    let mut clean = String::with_capacity(json.len());
    write_clean(document.root(), &mut clean);
    Some(clean)
}

/// The recursion is bounded by the nesting of JSON.
fn is_clean(value: Value<'_>) -> bool {
    match value.kind() {
        Kind::String => value.as_str().is_none_or(|text| visible(&text) == text),
        Kind::Array => value.items().all(is_clean),
        Kind::Object => value.members().all(|(name, value)| visible(&name) == name && is_clean(value)),
        _ => true,
    }
}

/// The recursion is bounded by the nesting of JSON. Of members whose clean names are equal, the first one stays.
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
            let mut names = BTreeSet::new();
            clean.push('{');
            for (name, member) in value.members() {
                let name = visible(&name);
                let literal = write::literal(&name);
                if names.insert(name) {
                    if names.len() > 1 {
                        clean.push(',');
                    }
                    clean.push_str(literal.get());
                    clean.push(':');
                    write_clean(member, clean);
                }
            }
            clean.push('}');
        }
        _ => clean.push_str(value.text()),
    }
}
