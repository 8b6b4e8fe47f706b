//! Skills that are compiled into a program.
//!
//! `scripts/skills` writes a catalog from a folder: entries with digests as constant JSON, and the files by `include_str!`.

use std::future::ready;

use futures::FutureExt;

use super::entry::{SKILL_FILE, SkillEntry, digest};
use super::store::{SkillChild, SkillContent, SkillFuture, SkillRecord, SkillStore};
use crate::call::context::Context;
use crate::text::Text;

/// A list of skills that are compiled into a program. `scripts/skills DIR` writes it.
///
/// ```
/// use edge_mcp::{McpServer, Skills};
/// use edge_mcp::skills::{Catalog, File, Skill};
///
/// static SKILLS: Catalog = Catalog::new(&[Skill::new(
///     "skill://refunds",
///     r#"{"uri":"skill://refunds/SKILL.md","frontmatter":{"name":"refunds","description":"Refunds an order."},
///       "resources":[{"uri":"skill://refunds/SKILL.md","size":64,
///         "digest":"sha256:915cdaa478b1ae1e355ee1c95876b5ae6c1912fbfe86130be23b9fcbb9707e0e"}]}"#,
///     &[File::text("skill://refunds/SKILL.md", "text/markdown", "---\nname: refunds\ndescription: Refunds an order.\n---\nAsk first.\n")],
/// )]);
///
/// assert_eq!(SKILLS.check(), Ok(()));
/// let server = McpServer::builder("orders", "1.0.0").skills(Skills::embedded(&SKILLS)).build()?;
/// # Ok::<_, edge_mcp::BuildError>(())
/// ```
#[derive(Debug)]
pub struct Catalog {
    skills: &'static [Skill],
}

/// A skill of a [`Catalog`].
#[derive(Debug)]
pub struct Skill {
    root: &'static str,
    entry: &'static str,
    files: &'static [File],
}

/// A file of a [`Skill`].
#[derive(Debug)]
pub struct File {
    uri: &'static str,
    mime_type: &'static str,
    bytes: &'static [u8],
}

impl File {
    /// Creates a file from its text.
    pub const fn text(uri: &'static str, mime_type: &'static str, text: &'static str) -> Self {
        Self { uri, mime_type, bytes: text.as_bytes() }
    }

    /// Creates a file from its bytes.
    pub const fn bytes(uri: &'static str, mime_type: &'static str, bytes: &'static [u8]) -> Self {
        Self { uri, mime_type, bytes }
    }

    fn size(&self) -> u64 {
        u64::try_from(self.bytes.len()).unwrap_or(u64::MAX)
    }
}

impl Skill {
    /// Creates the skill in the folder `root`. `entry` is its entry in `skills/list` as JSON. `files` are the files of the folder, without
    /// those of skills inside it.
    pub const fn new(root: &'static str, entry: &'static str, files: &'static [File]) -> Self {
        Self { root, entry, files }
    }

    fn uri(&self) -> String {
        format!("{}{SKILL_FILE}", self.root)
    }

    fn record(&self) -> SkillRecord {
        SkillRecord { uri: self.uri(), json: Text::Borrowed(self.entry), scopes: Vec::new() }
    }
}

impl Catalog {
    /// Creates a catalog. The skills are ordered by their URIs.
    pub const fn new(skills: &'static [Skill]) -> Self {
        Self { skills }
    }

    pub(super) fn uris(&self) -> impl Iterator<Item = String> {
        self.skills.iter().map(Skill::uri)
    }

    fn files(&self) -> impl Iterator<Item = &'static File> {
        self.skills.iter().flat_map(|skill| skill.files)
    }

    /// Returns the files and folders in the folder `uri` of a skill, ordered by their URIs.
    fn children(&self, uri: &str) -> Option<Vec<SkillChild>> {
        let is_inside =
            |root: &str| uri.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if !self.skills.iter().any(|skill| is_inside(skill.root)) {
            return None;
        }
        let mut children: Vec<SkillChild> = Vec::new();
        for file in self.files() {
            let Some(path) = file.uri.strip_prefix(uri).and_then(|rest| rest.strip_prefix('/')) else { continue };
            let (segment, is_folder) = path.split_once('/').map_or((path, false), |(folder, _)| (folder, true));
            let (mime_type, size) = (Text::Borrowed(file.mime_type), file.size());
            let child = SkillChild::new(
                format!("{uri}/{segment}"),
                (!is_folder).then_some(mime_type),
                (!is_folder).then_some(size),
            );
            let at = children.iter().position(|known| known.uri >= child.uri).unwrap_or(children.len());
            if children.get(at).is_none_or(|known| known.uri != child.uri) {
                children.insert(at, child);
            }
        }
        (!children.is_empty()).then_some(children)
    }

    /// Checks that the entries fit the files. A test of the program calls it, so that a file does not change without its entry.
    ///
    /// # Errors
    /// The first difference, as a sentence.
    pub fn check(&self) -> Result<(), String> {
        let mut last = String::new();
        for skill in self.skills {
            let uri = skill.uri();
            if uri <= last {
                return Err(format!("The skill `{uri}` is not in the order of the URIs."));
            }
            self.check_entry(skill, &uri)?;
            last = uri;
        }
        Ok(())
    }

    fn check_entry(&self, skill: &Skill, uri: &str) -> Result<(), String> {
        let entry = SkillEntry::parse(skill.entry)?;
        let listed = entry.files().unwrap_or_default();
        if entry.uri() != uri {
            return Err(format!("The entry of `{uri}` has another URI."));
        }
        let inside = format!("{}/", skill.root);
        let mut files: Vec<_> = self.files().filter(|file| file.uri.starts_with(&inside)).collect();
        files.sort_unstable_by_key(|file| file.uri);
        if listed.len() != files.len() {
            return Err(format!("The entry of `{uri}` lists {} files, and there are {}.", listed.len(), files.len()));
        }
        for (listed, file) in listed.iter().zip(files) {
            if listed.uri != file.uri || listed.digest != digest(file.bytes) || listed.size != file.size() {
                return Err(format!(
                    "The entry of `{uri}` does not fit the file `{}`. Run scripts/skills again.",
                    file.uri
                ));
            }
        }
        Ok(())
    }
}

fn ready_with<T: 'static>(value: T) -> SkillFuture<T> {
    ready(Ok(value)).boxed_local()
}

impl SkillStore for &'static Catalog {
    fn list(&self, after: Option<String>, limit: usize, _: &Context) -> SkillFuture<Vec<SkillRecord>> {
        let is_later = |skill: &SkillRecord| after.as_ref().is_none_or(|after| skill.uri > *after);
        ready_with(self.skills.iter().map(Skill::record).filter(is_later).take(limit).collect())
    }

    fn get(&self, uri: String, _: &Context) -> SkillFuture<Option<SkillRecord>> {
        let root = uri.strip_suffix(SKILL_FILE);
        ready_with(self.skills.iter().find(|skill| Some(skill.root) == root).map(Skill::record))
    }

    fn read(&self, uri: String, _: &Context) -> SkillFuture<Option<SkillContent>> {
        let file = self.files().find(|file| file.uri == uri);
        ready_with(file.map(|file| SkillContent {
            mime_type: Some(Text::Borrowed(file.mime_type)),
            // `check` compares the digest in a test of the program.
            digest: None,
            bytes: file.bytes.to_vec(),
            scopes: Vec::new(),
            uri,
        }))
    }

    fn directory(
        &self,
        uri: String,
        after: Option<String>,
        limit: usize,
        _: &Context,
    ) -> SkillFuture<Option<Vec<SkillChild>>> {
        let is_later = |child: &SkillChild| after.as_ref().is_none_or(|after| child.uri > *after);
        ready_with(self.children(&uri).map(|children| children.into_iter().filter(is_later).take(limit).collect()))
    }
}
