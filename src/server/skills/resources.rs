//! The files of skills as resources.

use std::rc::Rc;

use edge_json::{Document, JsonLimits, Value};
use edge_uri_template::normalized;
use futures::FutureExt;

use super::entry::digest;
use super::store::{SkillContent, SkillRecord};
use super::{SkillSets, Skills, open_sets, shows};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::host::log;
use crate::limits::{SKILL_PAGE, SKILLS_LISTED};
use crate::protocol::description::ResourceDescription;
use crate::protocol::resource_contents::ResourceContents;
use crate::server::resource::{Contents, NOT_FOUND, ResourceTemplate};
use crate::text::visible;

/// Returns the template of the files of skills. It lists the `SKILL.md` of each skill.
pub(crate) fn template(sets: &SkillSets) -> ResourceTemplate {
    let (of_list, of_read) = (sets.clone(), sets.clone());
    let read =
        move |uri: &str, _, cx: Context| read(open_sets(&of_read, &cx), normalized(uri).into_owned(), cx).boxed_local();
    // The name of a file can have `%` and digits, or an escape of `/`. A variable does not keep them apart, so the lookup needs the whole URI.
    ResourceTemplate::of_reader("skill://{+path}".into(), Box::new(read))
        .prefix("skill://")
        .name("Files of skills")
        .list(move |cx: Context| listed(open_sets(&of_list, &cx), cx))
}

async fn read(sets: Vec<Rc<Skills>>, uri: String, cx: Context) -> Result<Contents, HandlerError> {
    for set in &sets {
        if let Some(file) = set.store.read(uri.clone(), &cx).await? {
            if !shows(&file.scopes, &cx) {
                break;
            }
            return contents(file).map(|contents| Contents::of(vec![contents]));
        }
    }
    Err(HandlerError::not_found(NOT_FOUND))
}

/// Returns the bytes of a file as text if they are text, so that the client can compute the digest of what it gets.
fn contents(file: SkillContent) -> Result<ResourceContents, HandlerError> {
    let SkillContent { uri, mime_type, digest: expected, bytes, .. } = file;
    if expected.is_some_and(|expected| expected != digest(&bytes)) {
        return Err(HandlerError::new("This file cannot be read now. Call skills/get for the files of the skill.")
            .because("the bytes of a file of a skill do not fit its digest"));
    }
    let contents = match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => ResourceContents::text(uri, text),
        Ok(text) => ResourceContents::blob(uri, text.as_bytes()),
        Err(error) => ResourceContents::blob(uri, error.as_bytes()),
    };
    Ok(match mime_type {
        Some(mime_type) => contents.mime_type(mime_type),
        None => contents,
    })
}

/// Returns the `SKILL.md` of each skill.
async fn listed(sets: Vec<Rc<Skills>>, cx: Context) -> Result<Vec<ResourceDescription>, HandlerError> {
    let mut listed: Vec<ResourceDescription> = Vec::new();
    for set in &sets {
        let mut after = None;
        while listed.len() < SKILLS_LISTED {
            let entries = match set.visible_to(after, SKILL_PAGE, &cx).await {
                Ok(entries) => entries,
                // The skills of another server are not worth the other resources.
                Err(error) if set.is_foreign => {
                    log::failure(cx.host(), "skills", error.message());
                    break;
                }
                Err(error) => return Err(error),
            };
            after = entries.last().map(|last| last.uri.clone());
            let is_last = entries.len() < SKILL_PAGE;
            for entry in entries {
                if listed.iter().all(|known| known.uri != entry.uri) {
                    listed.extend(described(&entry));
                }
            }
            if is_last {
                break;
            }
        }
    }
    Ok(listed)
}

/// Returns the `SKILL.md` of a skill as a resource, or `None` if the entry is not valid.
fn described(entry: &SkillRecord) -> Option<ResourceDescription> {
    let document = Document::parse(entry.json.as_bytes(), JsonLimits::MOST).ok()?;
    let frontmatter = document.root().get("frontmatter")?;
    let resource = ResourceDescription::new(entry.uri.clone(), frontmatter.string("name")?)
        .description(visible(&frontmatter.string("description")?))
        .mime_type("text/markdown");
    let is_own = |resource: &Value<'_>| resource.get("uri").is_some_and(|uri| uri.is_str(&entry.uri));
    let own = document.root().get("resources")?.items().find(is_own);
    let size = own.and_then(|own| own.get("size")?.text().parse().ok());
    Some(match size {
        Some(size) => resource.size(size),
        None => resource,
    })
}
