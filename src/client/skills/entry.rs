//! The entry of a skill: its frontmatter, and a digest of each of its files.
//!
//! An entry is hostile until it is read: it is bounded, its files are in its folder, and each of them occurs once.

use std::collections::BTreeSet;
use std::rc::Rc;

use edge_json::write::ObjectWriter;
use edge_json::{Document, JsonLimits, Kind, Value};
use edge_uri_template::normalized;
use serde_json::value::RawValue;

use super::paths;
use crate::config::ConfigError;
use crate::limits::{
    FRONTMATTER_BYTES, UPSTREAM_NAME_BYTES, UPSTREAM_SKILL_BYTES, UPSTREAM_SKILL_FILES, UPSTREAM_SKILL_SIZE,
};
use crate::text::{Text, is_plain, line, visible};

/// The length of a URI in a message, in characters.
const SHOWN: usize = 128;
/// The most characters of a name and of a description. Source: Agent Skills specification.
const NAME: usize = 64;
const DESCRIPTION: usize = 1024;

/// The entry of a skill of another server. Cloning is cheap.
///
/// The identity of a skill is its server and its URI. Several servers can have a skill of the same name.
#[derive(Clone, Debug)]
pub struct SkillEntry(Rc<Shared>);

#[derive(Debug)]
struct Shared {
    server: Text,
    uri: String,
    /// The folder, in normal form.
    root: String,
    name: String,
    description: String,
    frontmatter: Box<str>,
    files: Option<Vec<SkillFile>>,
    json: Box<RawValue>,
}

/// A file in the entry of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillFile {
    /// The URI.
    pub uri: String,
    /// `sha256:` and 64 hexadecimal digits.
    pub digest: String,
    /// The number of bytes.
    pub size: u64,
}

impl SkillEntry {
    /// Reads an entry.
    ///
    /// # Errors
    /// The problem with it, as a sentence.
    pub(in crate::client) fn read(server: &Text, entry: Value<'_>) -> Result<Self, String> {
        let uri = entry.string("uri").unwrap_or_default();
        Self::checked(server, &uri, entry)
            .map_err(|problem| format!("The skill `{}` of the server `{server}` {problem}.", line(&uri, SHOWN)))
    }

    fn checked(server: &Text, uri: &str, entry: Value<'_>) -> Result<Self, &'static str> {
        if entry.text().len() > UPSTREAM_SKILL_BYTES {
            return Err("has an entry that is too long");
        }
        let (root, folder) = Some(uri)
            .filter(|uri| is_uri(uri))
            .and_then(paths::root)
            .ok_or("has a URI that does not end with a folder and `/SKILL.md`")?;
        let frontmatter =
            entry.get("frontmatter").filter(|it| it.kind() == Kind::Object).ok_or("has no frontmatter")?;
        if frontmatter.text().len() > FRONTMATTER_BYTES {
            return Err("has frontmatter that is too long");
        }
        let name = frontmatter.string("name").filter(|name| is_name(name)).ok_or("has a `name` that is not valid")?;
        if name != folder {
            return Err("has a `name` that is not that of its folder");
        }
        let description = frontmatter.string("description").ok_or("has no `description`")?;
        if !(1..=DESCRIPTION).contains(&description.chars().count()) {
            return Err("has a `description` that is empty or too long");
        }
        let resources = entry.get("resources").ok_or("has no `resources`")?;
        let files = match resources.kind() {
            Kind::Array => Some(files(resources, &root, uri)?),
            _ if resources.is_str("dynamic") => None,
            _ => return Err("has `resources` that are not a list"),
        };
        Ok(Self(Rc::new(Shared {
            server: server.clone(),
            uri: uri.to_owned(),
            root,
            name,
            description: visible(&description),
            frontmatter: frontmatter.text().into(),
            files,
            json: entry.to_raw().ok_or("is not JSON")?,
        })))
    }

    /// Returns the entry as JSON text: an object with the name of the server and the entry. [`from_json`](Self::from_json) reads it.
    ///
    /// A program can store the text, for example after a person has approved the skill. A file that has changed since then is not read.
    pub fn to_json(&self) -> String {
        ObjectWriter::new().text("server", &self.0.server).json("skill", self.0.json.get()).finish()
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
        Self::read(&Text::Owned(server), entry).map_err(|problem| error(format!("is not valid: {problem}")))
    }

    /// Returns the name that this program has for the server.
    pub fn server(&self) -> &str {
        &self.0.server
    }

    /// Returns the URI of the `SKILL.md`.
    pub fn uri(&self) -> &str {
        &self.0.uri
    }

    /// Returns the name: 1 to 64 characters of `a-z`, `0-9` and hyphens. Skills of several servers can have the same name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the description. Invisible characters and characters that reorder text are removed.
    pub fn description(&self) -> &str {
        &self.0.description
    }

    /// Returns the frontmatter as JSON text, as the server sent it. It may have hidden characters, so do not pass it to a model.
    pub fn frontmatter(&self) -> &str {
        &self.0.frontmatter
    }

    /// Returns the files, or `None` if the server says that they change (`dynamic`). Such files cannot be verified, so the client does not read
    /// them.
    pub fn files(&self) -> Option<&[SkillFile]> {
        self.0.files.as_deref()
    }

    /// Returns the entry as JSON text, as the server sent it.
    pub fn raw(&self) -> &str {
        self.0.json.get()
    }

    /// Returns why an entry whose URI is listed twice is left out.
    pub(in crate::client) fn is_listed_twice(&self) -> String {
        format!("The skill `{}` of the server `{}` is listed twice.", line(&self.0.uri, SHOWN), self.0.server)
    }

    /// Returns the file that a URI, or a path in the folder of the skill, names.
    pub(in crate::client) fn file(&self, reference: &str) -> Option<&SkillFile> {
        let uri = paths::resolved(&self.0.root, reference)?;
        self.0.files.as_ref()?.iter().find(|file| normalized(&file.uri) == uri)
    }
}

/// Reads the files of a skill.
fn files(resources: Value<'_>, root: &str, uri: &str) -> Result<Vec<SkillFile>, &'static str> {
    let mut files = Vec::new();
    let mut seen = BTreeSet::new();
    let mut size = 0_u64;
    for resource in resources.items() {
        if files.len() >= UPSTREAM_SKILL_FILES {
            return Err("has too many files");
        }
        let file = file(resource).ok_or("has a file without a valid URI, digest or size")?;
        if !paths::is_inside(root, &file.uri) {
            return Err("has a file that is not in its folder");
        }
        if !seen.insert(normalized(&file.uri).into_owned()) {
            return Err("has a file twice");
        }
        size = size.saturating_add(file.size);
        files.push(file);
    }
    if size > UPSTREAM_SKILL_SIZE as u64 {
        return Err("has files that are too long");
    }
    if seen.contains(&*normalized(uri)) { Ok(files) } else { Err("does not list its own `SKILL.md`") }
}

fn file(resource: Value<'_>) -> Option<SkillFile> {
    let is_digest = |digest: &String| {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        digest.strip_prefix("sha256:").is_some_and(|digits| digits.len() == 64 && digits.bytes().all(is_digit))
    };
    Some(SkillFile {
        uri: resource.string("uri").filter(|uri| is_uri(uri))?,
        digest: resource.string("digest").filter(is_digest)?,
        size: resource.get("size").filter(|size| size.kind() == Kind::Number)?.text().parse().ok()?,
    })
}

fn is_uri(uri: &str) -> bool {
    uri.len() <= UPSTREAM_NAME_BYTES && is_plain(uri)
}

fn is_name(name: &str) -> bool {
    let is_part =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    name.len() <= NAME && name.split('-').all(is_part)
}
