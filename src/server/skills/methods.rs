//! The results of `skills/list`, `skills/get` and `resources/directory/read`.
//!
//! Source: ext-skills, specification, "Listing Skills", "Getting a Skill", "Reading Directories".

use std::borrow::Cow;

use edge_json::write::ObjectWriter;
use edge_uri_template::normalized;

use super::store::{SkillChild, SkillRecord};
use super::{SkillSets, open_sets, shows};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::limits::{SKILL_PAGE, SKILL_PAGE_BYTES};
use crate::server::cursor;

/// The media type of a folder.
const FOLDER: &str = "inode/directory";
const UNKNOWN_SKILL: &str = "There is no such skill. Call skills/list for the available skills.";
const UNKNOWN_FOLDER: &str = "There is no such folder of a skill. Call skills/get for the files of a skill.";

/// Returns the result of `skills/list` as JSON: from this cursor on, at most this number of skills.
pub(crate) async fn list(
    sets: SkillSets,
    cursor: Option<String>,
    size: usize,
    cx: Context,
) -> Result<String, HandlerError> {
    const LIST: &str = "skills/list";
    let after = after(LIST, cursor)?;
    let size = size.min(SKILL_PAGE);
    let mut entries: Vec<SkillRecord> = Vec::new();
    for set in &open_sets(&sets, &cx) {
        // One more shows whether there is a next page.
        for entry in set.visible_to(after.clone(), size.saturating_add(1), &cx).await? {
            // The lists of two sets are merged. The code of a sort would be larger.
            let at = entries.iter().position(|known| known.uri >= entry.uri).unwrap_or(entries.len());
            if entries.get(at).is_none_or(|known| known.uri != entry.uri) {
                entries.insert(at, entry);
            }
        }
    }
    let next = cut(LIST, &mut entries, size, |entry| &entry.uri, |entry| entry.json.len());
    Ok(result("skills", entries.into_iter().map(|entry| entry.json), next.as_deref()))
}

/// Returns the result of `skills/get` as JSON.
pub(crate) async fn get(sets: SkillSets, uri: String, cx: Context) -> Result<String, HandlerError> {
    let uri = normalized(&uri).into_owned();
    for set in &open_sets(&sets, &cx) {
        if let Some(entry) = set.store.get(uri.clone(), &cx).await? {
            if !shows(&entry.scopes, &cx) {
                break;
            }
            return Ok(ObjectWriter::new().json("skill", &entry.json).finish());
        }
    }
    Err(HandlerError::invalid(UNKNOWN_SKILL))
}

/// Returns the result of `resources/directory/read` as JSON, like [`list`].
pub(crate) async fn directory(
    sets: SkillSets,
    uri: String,
    cursor: Option<String>,
    size: usize,
    cx: Context,
) -> Result<String, HandlerError> {
    let uri = normalized(&uri).into_owned();
    // A cursor belongs to its folder.
    let folder = format!("resources/directory/read {uri}");
    let after = after(&folder, cursor)?;
    for set in &open_sets(&sets, &cx) {
        let children = set.store.directory(uri.clone(), after.clone(), size.saturating_add(1), &cx).await?;
        if let Some(mut children) = children {
            if !children.iter().all(|child| shows(&child.scopes, &cx)) {
                break;
            }
            let next = cut(&folder, &mut children, size, |child| &child.uri, |child| child.uri.len());
            let children = children.iter().map(|child| Cow::Owned(described(child)));
            return Ok(result("resources", children, next.as_deref()));
        }
    }
    Err(HandlerError::invalid(UNKNOWN_FOLDER))
}

fn described(child: &SkillChild) -> String {
    let mime_type = child.mime_type.as_deref().unwrap_or(FOLDER);
    let object = ObjectWriter::new().text("uri", &child.uri).text("name", &child.name).text("mimeType", mime_type);
    match child.size {
        Some(size) => object.json("size", &size.to_string()).finish(),
        None => object.finish(),
    }
}

/// Returns the result of a list as JSON. `items` are JSON.
fn result<'a>(name: &str, items: impl Iterator<Item = Cow<'a, str>>, next: Option<&str>) -> String {
    let items: Vec<_> = items.collect();
    let object = ObjectWriter::new().json(name, &format!("[{}]", items.join(",")));
    match next {
        Some(next) => object.text("nextCursor", next).finish(),
        None => object.finish(),
    }
}

/// Cuts a list to a page: at most `size` items, and at most 1 MiB, but at least one item. Returns the cursor of the next page.
fn cut<T>(
    list: &str,
    items: &mut Vec<T>,
    size: usize,
    uri: impl Fn(&T) -> &str,
    bytes: impl Fn(&T) -> usize,
) -> Option<String> {
    let mut total = 0_usize;
    let fits = |item: &T| {
        total = total.saturating_add(bytes(item));
        total <= SKILL_PAGE_BYTES
    };
    let fitting = items.iter().take(size).map(fits).take_while(|fits| *fits).count().max(1);
    let has_more = items.len() > fitting;
    items.truncate(fitting);
    items.last().filter(|_| has_more).map(|last| cursor::at(list, uri(last).as_bytes()))
}

/// Returns the URI after which the page of a cursor begins.
fn after(list: &str, cursor: Option<String>) -> Result<Option<String>, HandlerError> {
    let Some(cursor) = cursor else { return Ok(None) };
    let uri = cursor::position(list, &cursor).and_then(|uri| String::from_utf8(uri).ok());
    uri.map(Some).ok_or_else(|| HandlerError::invalid(cursor::INVALID))
}
