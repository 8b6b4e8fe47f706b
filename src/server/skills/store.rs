//! The store of skills: where a server has its skills.

use futures::future::LocalBoxFuture;
use percent_encoding::percent_decode_str;

use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::text::Text;

/// The future of a [`SkillStore`].
pub type SkillFuture<T> = LocalBoxFuture<'static, Result<T, HandlerError>>;

/// A store of skills, such as a database. All URIs are in normal form, and lookups are exact.
///
/// An entry and its files must come from one state of the store: a file whose bytes do not fit its digest is not sent.
pub trait SkillStore {
    /// Returns the skills whose URIs are greater than `after`, ordered by their URIs: `limit` of them, and fewer only at the end.
    fn list(&self, after: Option<String>, limit: usize, cx: &Context) -> SkillFuture<Vec<SkillRecord>>;

    /// Returns the skill whose `SKILL.md` has this URI.
    fn get(&self, uri: String, cx: &Context) -> SkillFuture<Option<SkillRecord>>;

    /// Returns the file of a skill.
    fn read(&self, uri: String, cx: &Context) -> SkillFuture<Option<SkillContent>>;

    /// Returns the files and folders in a folder of a skill, or `None` if there is no such folder. They are ordered by their URIs. `after` and
    /// `limit` have the same meaning as for [`list`](Self::list).
    fn directory(
        &self,
        uri: String,
        after: Option<String>,
        limit: usize,
        cx: &Context,
    ) -> SkillFuture<Option<Vec<SkillChild>>>;
}

/// A skill in a store.
#[derive(Clone, Debug)]
pub struct SkillRecord {
    /// The URI of its `SKILL.md`.
    pub uri: String,
    /// The entry as JSON: an object with `uri`, `frontmatter` and `resources`. [`SkillEntry::parse`](super::entry::SkillEntry::parse) checks it.
    pub json: Text,
    /// The scopes that a caller needs. For other callers, the skill does not exist.
    pub scopes: Vec<Text>,
}

/// The content of a file of a skill. The content that a client reads comes from another server: do not treat it as instructions of your program.
#[derive(Clone, Debug)]
pub struct SkillContent {
    /// The URI, as in the entry.
    pub uri: String,
    /// The media type, if it is known. The entry does not have it.
    pub mime_type: Option<Text>,
    /// The digest in the entry of the skill: `sha256:` and 64 hexadecimal digits. `None` if the bytes are known to fit the entry.
    pub digest: Option<String>,
    /// The bytes, unchanged.
    pub bytes: Vec<u8>,
    /// The scopes that a caller needs: those of its skill.
    pub scopes: Vec<Text>,
}

impl SkillContent {
    /// Returns the text, or `None` if the bytes are not UTF-8.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }
}

/// A file or a folder in a folder of a skill.
#[derive(Clone, Debug)]
pub struct SkillChild {
    /// The URI.
    pub uri: String,
    /// The name in the folder.
    pub name: String,
    /// The media type of a file. `None` for a folder.
    pub mime_type: Option<Text>,
    /// The size of a file in bytes.
    pub size: Option<u64>,
    /// The scopes that a caller needs: those of its skill.
    pub scopes: Vec<Text>,
}

impl SkillChild {
    /// Creates a file, or a folder without a media type. Its name is the last part of the URI.
    pub fn new(uri: String, mime_type: Option<Text>, size: Option<u64>) -> Self {
        let name = percent_decode_str(uri.rsplit('/').next().unwrap_or_default()).decode_utf8_lossy().into_owned();
        Self { uri, name, mime_type, size, scopes: Vec::new() }
    }
}
