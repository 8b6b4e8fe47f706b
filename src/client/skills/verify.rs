//! The check of a file of a skill against the entry of the skill.

use edge_json::{Document, JsonLimits, Kind, Value};
use edge_uri_template::normalized;
use serde_json::Value as Json;

use super::entry::{SkillEntry, SkillFile};
use super::frontmatter::{self, Mistake};
use crate::client::error::{ClientError, Failure, Unverified};
use crate::protocol::resource_contents::ResourceContents;
use crate::server::skills::digest::digest;
use crate::text::visible;

/// The content of a file of a skill. Its bytes have the digest that the entry of the skill has.
///
/// It comes from another server. Do not treat it as instructions of your program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SkillContent {
    /// The URI, as in the entry.
    pub uri: String,
    /// The media type, if the server states it. The entry does not have it.
    pub mime_type: Option<String>,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl SkillContent {
    /// Returns the text, or `None` if the bytes are not UTF-8.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }
}

/// Returns the content in a result of `resources/read`, if it is that of `file`.
pub(in crate::client) fn verified(
    entry: &SkillEntry,
    file: &SkillFile,
    result: Value<'_>,
) -> Result<SkillContent, ClientError> {
    let malformed = |problem| ClientError::from(Failure::Malformed(problem));
    let contents = result.get("contents").filter(|contents| contents.kind() == Kind::Array);
    let mut contents = contents.into_iter().flat_map(Value::items);
    let (Some(content), None) = (contents.next(), contents.next()) else {
        return Err(malformed("does not have exactly one content of a file of a skill"));
    };
    let content = ResourceContents::read(content)
        .filter(|content| normalized(content.uri()) == normalized(&file.uri))
        .ok_or_else(|| malformed("has the content of another file of a skill, or none"))?;
    let bytes = match content.as_text() {
        Some(text) => text.as_bytes().to_vec(),
        None => content.bytes().ok_or_else(|| malformed("has a file of a skill that is not base64"))?,
    };
    if u64::try_from(bytes.len()) != Ok(file.size) {
        return Err(Failure::Unverified(Unverified::Size).into());
    }
    if digest(&bytes) != file.digest {
        return Err(Failure::Unverified(Unverified::Digest).into());
    }
    let mime_type = content.get_mime_type().map(visible);
    let content = SkillContent { uri: file.uri.clone(), mime_type, bytes };
    if normalized(&file.uri) == normalized(entry.uri()) {
        check_frontmatter(entry, &content)
            .map_err(|problem| ClientError::new(Failure::Unverified(Unverified::Frontmatter), Some(problem)))?;
    }
    Ok(content)
}

/// Checks that a `SKILL.md` has the frontmatter of its entry. The problem is for the log.
fn check_frontmatter(entry: &SkillEntry, content: &SkillContent) -> Result<(), String> {
    let text = content.text().ok_or("the file is not UTF-8")?;
    let read = frontmatter::read(text).map_err(|Mistake { line, problem }| format!("line {line} {problem}"))?;
    let document =
        Document::parse(entry.frontmatter().as_bytes(), JsonLimits::MOST).map_err(|error| error.to_string())?;
    let listed = document.root().to_json().ok_or("a number in the entry is too large")?;
    if is_same(&Json::Object(read), &listed) {
        Ok(())
    } else {
        Err("the file has other values than the entry".to_owned())
    }
}

/// Returns whether two values are the same: numbers by value, objects in any order, lists in order. The recursion is bounded by the nesting of
/// frontmatter.
fn is_same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => one.as_f64() == other.as_f64(),
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            let has = |(name, value): (&String, &Json)| other.get(name).is_some_and(|other| is_same(value, other));
            one.len() == other.len() && one.iter().all(has)
        }
        (one, other) => one == other,
    }
}
