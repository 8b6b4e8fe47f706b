//! Skills of other servers: their entries, and the check of each file against its entry. The requests are in `operations/skills`.
//!
//! Source: ext-skills, specification; SEP-2640.

pub mod frontmatter;

use edge_json::write::ObjectWriter;
use edge_json::{Document, JsonLimits, Kind, Value};
use edge_uri_template::normalized;

use self::frontmatter::Frontmatter;
use super::error::{ClientError, Failure, Unverified};
use crate::config::ConfigError;
use crate::limits::{FRONTMATTER_BYTES, UPSTREAM_SKILL_BYTES};
use crate::protocol::resource_contents::ResourceContents;
use crate::server::skills::entry::{SHOWN, SkillEntry, SkillFile, digest};
use crate::server::skills::store::SkillContent;
use crate::text::{Text, line, visible};

impl SkillEntry {
    /// Reads an entry of the server `server`.
    ///
    /// # Errors
    /// The problem with it, as a sentence.
    pub(super) fn of_server(server: &Text, entry: Value<'_>) -> Result<Self, String> {
        let uri = entry.string("uri").unwrap_or_default();
        let is_long = entry.text().len() > UPSTREAM_SKILL_BYTES
            || entry.get("frontmatter").is_some_and(|frontmatter| frontmatter.text().len() > FRONTMATTER_BYTES);
        let entry =
            if is_long { Err("has an entry that is too long".to_owned()) } else { Self::read(server, &uri, entry) };
        entry.map_err(|problem| format!("The skill `{}` of the server `{server}` {problem}.", line(&uri, SHOWN)))
    }

    /// Returns the entry as JSON text: an object with the name of the server and the entry. [`from_json`](Self::from_json) reads it.
    ///
    /// A program can store the text, for example after a person has approved the skill. A file that has changed since then is not read.
    pub fn to_json(&self) -> String {
        ObjectWriter::new().text("server", self.server()).json("skill", self.raw()).finish()
    }

    /// Reads the text that [`to_json`](Self::to_json) returned.
    ///
    /// # Errors
    /// The text does not have the form that `to_json` returns.
    pub fn from_json(text: &str) -> Result<Self, ConfigError> {
        let error = |problem: String| ConfigError::new("the entry of a skill of another MCP server", problem);
        let document = Document::parse(text.as_bytes(), JsonLimits::default())
            .map_err(|problem| error(format!("is not valid JSON: {problem}")))?;
        let (server, entry) = (document.root().string("server"), document.root().get("skill"));
        let (Some(server), Some(entry)) = (server, entry) else {
            return Err(error("must have the members `server` and `skill`".to_owned()));
        };
        Self::of_server(&Text::Owned(server), entry).map_err(|problem| error(format!("is not valid: {problem}")))
    }

    /// Returns why an entry whose URI is listed twice is left out.
    pub(super) fn is_listed_twice(&self) -> String {
        format!("The skill `{}` of the server `{}` is listed twice.", line(self.uri(), SHOWN), self.server())
    }

    /// Returns the file that a URI, or a path in the folder of the skill, names.
    pub(super) fn file(&self, reference: &str) -> Option<&SkillFile> {
        let uri = resolved(self.root(), reference)?;
        self.files()?.iter().find(|file| normalized(&file.uri) == uri)
    }
}

/// Returns the URI, in normal form, that a reference in a file of the folder `root` means. Returns `None` if a relative path leaves the folder.
fn resolved(root: &str, reference: &str) -> Option<String> {
    let reference = normalized(reference.split('#').next()?);
    if reference.contains("://") {
        return Some(reference.into_owned());
    }
    let mut path = Vec::new();
    for segment in reference.split('/') {
        match segment {
            "." => {}
            ".." => drop(path.pop()?),
            segment => path.push(segment),
        }
    }
    Some(format!("{root}/{}", path.join("/")))
}

/// Returns the content in a result of `resources/read`, if it is that of `file`.
pub(super) fn verified(entry: &SkillEntry, file: &SkillFile, result: Value<'_>) -> Result<SkillContent, ClientError> {
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
    let digest = digest(&bytes);
    if digest != file.digest {
        return Err(Failure::Unverified(Unverified::Digest).into());
    }
    let mime_type = content.get_mime_type().map(|mime_type| visible(mime_type).into());
    let content = SkillContent { uri: file.uri.clone(), mime_type, digest: Some(digest), bytes, scopes: Vec::new() };
    if normalized(&file.uri) == normalized(entry.uri()) {
        check_frontmatter(entry, &content)
            .map_err(|problem| ClientError::new(Failure::Unverified(Unverified::Frontmatter), Some(problem)))?;
    }
    Ok(content)
}

/// Checks that a `SKILL.md` has the name and the description of its entry. The problem is for the log.
fn check_frontmatter(entry: &SkillEntry, content: &SkillContent) -> Result<(), String> {
    let read = frontmatter::read(content.text().ok_or("the file is not UTF-8")?)?;
    let document = Document::parse(entry.frontmatter().as_bytes(), JsonLimits::MOST);
    let document = document.map_err(|error| error.to_string())?;
    let member = |name| document.root().string(name).unwrap_or_default();
    if read == (Frontmatter { name: member("name"), description: member("description") }) {
        Ok(())
    } else {
        Err("the file has another name or description than the entry".to_owned())
    }
}
