//! The entry of a skill: its name and description, and a digest of each of its files.
//!
//! An entry is hostile until it is read: it is bounded, its files are in its folder, and each of them occurs once. For the skills that a
//! program publishes, [`SkillEntry::parse`] has more rules.
//!
//! Source: ext-skills, specification, "Skill URIs", "Frontmatter", "Resources".

use std::collections::BTreeSet;
use std::rc::Rc;

use edge_json::{Document, JsonLimits, Kind, Value};
use edge_uri_template::normalized;
use percent_encoding::percent_decode_str;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::limits::{SKILL_BYTES, SKILL_FILES, SKILL_URI_BYTES, UPSTREAM_NAME_BYTES};
use crate::text::{Text, is_plain, line, visible};

/// The name of the file that makes a folder a skill.
pub(crate) const SKILL_FILE: &str = "/SKILL.md";
/// The length of a URI in a message, in characters.
pub(crate) const SHOWN: usize = 128;
/// The most characters of a name and of a description. Source: Agent Skills specification.
const NAME: usize = 64;
const DESCRIPTION: usize = 1024;

/// The entry of a skill. Cloning is cheap.
///
/// The identity of a skill is its server and its URI. Several servers can have a skill of the same name.
///
/// ```
/// use edge_mcp::skills::SkillEntry;
///
/// let entry = r#"{"uri":"skill://refunds/SKILL.md","frontmatter":{"name":"refunds","description":"Refunds an order."},
///     "resources":[{"uri":"skill://refunds/SKILL.md","size":64,
///       "digest":"sha256:915cdaa478b1ae1e355ee1c95876b5ae6c1912fbfe86130be23b9fcbb9707e0e"}]}"#;
/// let skill = SkillEntry::parse(entry)?;
/// assert_eq!((skill.root(), skill.files().map(<[_]>::len)), ("skill://refunds", Some(1)));
/// SkillEntry::check_nested(&[skill])?;
/// # Ok::<_, String>(())
/// ```
#[derive(Clone, Debug)]
pub struct SkillEntry(Rc<EntryMembers>);

#[derive(Debug)]
struct EntryMembers {
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
    /// `sha256:` and 64 hexadecimal digits in lower case.
    pub digest: String,
    /// The size in bytes.
    pub size: u64,
}

impl SkillEntry {
    /// Reads an entry of this program, and checks it by the rules for published skills: the URIs, the name and the description, the digests,
    /// and the limits of a skill. The files are ordered by their URIs.
    ///
    /// # Errors
    /// The first mistake, as a sentence.
    pub fn parse(json: &str) -> Result<Self, String> {
        let document = Document::parse(json.as_bytes(), JsonLimits::DEFAULT)
            .map_err(|error| format!("An entry of a skill is not JSON: {error}."))?;
        let entry = document.root();
        let uri = entry.string("uri").ok_or("An entry of a skill has no `uri`.")?;
        published(&uri, entry).map_err(|problem| format!("The entry of `{uri}` {problem}."))
    }

    /// Reads an entry of a server, which may be hostile. `server` is empty for this program.
    ///
    /// # Errors
    /// The problem with it, as the end of a sentence.
    pub(crate) fn read(server: &Text, uri: &str, entry: Value<'_>) -> Result<Self, String> {
        let (root, folder) = Some(uri)
            .filter(|uri| is_uri(uri))
            .and_then(folder_of)
            .ok_or("must have a URI that ends with a folder and `/SKILL.md`")?;
        let frontmatter = entry.get("frontmatter").ok_or("has no `frontmatter`")?;
        let name = frontmatter.string("name").filter(|name| is_name(name) && *name == folder).ok_or(
            "must have a `name` of 1 to 64 characters of a-z, 0-9 and single hyphens, and its folder the same name",
        )?;
        let description = frontmatter.string("description").filter(|text| has_length(text, DESCRIPTION));
        let description = description.ok_or("must have a `description` of 1 to 1024 characters")?;
        let files = match entry.get("resources") {
            Some(resources) if resources.kind() == Kind::Array => Some(files(resources, &root, uri)?),
            Some(resources) if resources.is_str("dynamic") => None,
            _ => return Err(NO_LIST.to_owned()),
        };
        Ok(Self(Rc::new(EntryMembers {
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

    /// Returns the name that this program has for the server. It is empty for a skill of this program.
    pub fn server(&self) -> &str {
        &self.0.server
    }

    /// Returns the URI of the `SKILL.md`.
    pub fn uri(&self) -> &str {
        &self.0.uri
    }

    /// Returns the URI of the folder, in normal form.
    pub fn root(&self) -> &str {
        &self.0.root
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

    /// Returns the files, with those of skills inside the folder. Returns `None` if the server says that they change (`dynamic`). Such files
    /// cannot be verified, so the client does not read them.
    pub fn files(&self) -> Option<&[SkillFile]> {
        self.0.files.as_deref()
    }

    /// Returns the entry as JSON text, as the server sent it.
    pub fn raw(&self) -> &str {
        self.0.json.get()
    }

    /// Checks that skills that are published together agree: they are ordered by their URIs, each `SKILL.md` is a skill of its own, and a
    /// skill inside another one has the same files there.
    ///
    /// # Errors
    /// The first mistake, as a sentence.
    pub fn check_nested(skills: &[Self]) -> Result<(), String> {
        for (skill, next) in skills.iter().zip(skills.iter().skip(1)) {
            if skill.uri() >= next.uri() {
                return Err(format!("The skills must be ordered by their URIs, each once (at `{}`).", next.uri()));
            }
        }
        for outer in skills {
            let files = || outer.files().into_iter().flatten();
            for SkillFile { uri, .. } in files().filter(|file| file.uri.ends_with(SKILL_FILE)) {
                if skills.binary_search_by(|skill| skill.uri().cmp(uri)).is_err() {
                    return Err(format!("`{uri}` is in `{}`, and must also be a skill of its own.", outer.uri()));
                }
            }
            for inner in skills.iter().filter(|inner| is_inside(outer.root(), inner.uri())) {
                let files = files().filter(|file| is_inside(inner.root(), &file.uri));
                if !files.eq(inner.files().into_iter().flatten()) {
                    return Err(format!(
                        "The entries of `{}` and `{}` differ in the files of the inner one.",
                        outer.uri(),
                        inner.uri()
                    ));
                }
            }
        }
        Ok(())
    }
}

const NO_LIST: &str = "must have a list of all files as `resources`";

/// Reads an entry that this program publishes, or returns the end of a sentence about it.
fn published(uri: &str, entry: Value<'_>) -> Result<SkillEntry, String> {
    let root = uri.strip_suffix(SKILL_FILE).ok_or("must have a URI that ends with `/SKILL.md`")?;
    let path = root.strip_prefix("skill://").ok_or("must have a URI that begins with `skill://`")?;
    if !path.split('/').all(is_folder_name) {
        return Err("must have folders of a-z, 0-9, `-`, `.` and `_`".into());
    }
    if uri.len() > SKILL_URI_BYTES {
        return Err(format!("must have URIs of at most {SKILL_URI_BYTES} bytes"));
    }
    let skill = SkillEntry::read(&Text::default(), uri, entry)?;
    check_members(entry.get("frontmatter").ok_or("has no `frontmatter`")?)?;
    let files = skill.files().ok_or(NO_LIST)?;
    if let Some(SkillFile { uri, .. }) = files.iter().find(|file| !is_normal(&file.uri, root)) {
        return Err(format!(
            "must have files in its folder, with URIs in normal form of at most {SKILL_URI_BYTES} bytes (at `{uri}`)"
        ));
    }
    if let Some((_, next)) = files.iter().zip(files.iter().skip(1)).find(|(file, next)| file.uri >= next.uri) {
        return Err(format!("must list each file once, in the order of the URIs (at `{}`)", next.uri));
    }
    let is_listed = |uri: &str| files.binary_search_by(|file| file.uri.as_str().cmp(uri)).is_ok();
    let mut folders =
        files.iter().flat_map(|file| file.uri.match_indices('/').filter_map(|(at, _)| file.uri.get(..at)));
    match folders.find(|folder| is_listed(folder)) {
        Some(folder) => Err(format!("must not list a folder as a file (at `{folder}`)")),
        None => Ok(skill),
    }
}

fn is_folder_name(name: &str) -> bool {
    let is_edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let is_allowed = |byte: u8| is_edge(Some(byte)) || b"-._".contains(&byte);
    name.bytes().all(is_allowed) && is_edge(name.bytes().next()) && is_edge(name.bytes().next_back())
}

/// Checks the members of a frontmatter besides the name and the description.
fn check_members(frontmatter: Value<'_>) -> Result<(), &'static str> {
    let compatibility = frontmatter.get("compatibility");
    if compatibility.is_some_and(|text| !text.as_str().is_some_and(|text| has_length(&text, 500))) {
        return Err("must have a `compatibility` of 1 to 500 characters, or none");
    }
    if let Some(metadata) = frontmatter.get("metadata")
        && !(metadata.kind() == Kind::Object && metadata.members().all(|(_, value)| value.kind() == Kind::String))
    {
        return Err("must have texts as values of `metadata`");
    }
    if has_key(frontmatter, "__proto__") { Err("must not have a key `__proto__`") } else { Ok(()) }
}

fn has_length(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.chars().count())
}

/// Returns whether an object in `value` has the key. The depth of a document is limited.
fn has_key(value: Value<'_>, key: &str) -> bool {
    value.members().any(|(name, value)| name == key || has_key(value, key))
        || value.items().any(|item| has_key(item, key))
}

/// Returns whether the URI of a published file is in normal form. Names that begin with a dot are not served.
fn is_normal(uri: &str, root: &str) -> bool {
    let path = uri.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
    let is_hidden = |path: &str| path.split('/').any(|name| name.starts_with('.'));
    uri.len() <= SKILL_URI_BYTES && path.is_some_and(|path| !is_hidden(path)) && normalized(uri) == uri
}

/// Reads the files of a skill, or returns the end of a sentence about them.
fn files(resources: Value<'_>, root: &str, uri: &str) -> Result<Vec<SkillFile>, String> {
    let mut files = Vec::new();
    let mut seen = BTreeSet::new();
    let mut size = 0_u64;
    for resource in resources.items() {
        let file = file(resource, root)?;
        if !seen.insert(normalized(&file.uri).into_owned()) {
            return Err(format!("must list each file once (at `{}`)", line(&file.uri, SHOWN)));
        }
        size = size.saturating_add(file.size);
        files.push(file);
        if files.len() > SKILL_FILES {
            return Err(format!("must have at most {SKILL_FILES} files"));
        }
    }
    if size > SKILL_BYTES {
        return Err("must have files of at most 16 MiB together".to_owned());
    }
    if seen.contains(&*normalized(uri)) { Ok(files) } else { Err("does not list its own SKILL.md".to_owned()) }
}

fn file(resource: Value<'_>, root: &str) -> Result<SkillFile, String> {
    let is_digest = |digest: &String| {
        let is_digit = |byte: u8| b"0123456789abcdef".contains(&byte);
        digest.strip_prefix("sha256:").is_some_and(|digits| digits.len() == 64 && digits.bytes().all(is_digit))
    };
    let uri = resource.string("uri").ok_or("has a file without `uri`")?;
    let at = |problem: &str| format!("{problem} (at `{}`)", line(&uri, SHOWN));
    if !is_uri(&uri) || !is_inside(root, &uri) {
        return Err(at("must have files in its folder"));
    }
    let digest = resource.string("digest").filter(is_digest);
    let digest = digest.ok_or_else(|| at("must have a `digest` of `sha256:` and 64 digits in lower case"))?;
    let size = resource.get("size").filter(|size| size.kind() == Kind::Number);
    let size = size.and_then(|size| size.text().parse().ok()).ok_or_else(|| at("must have a `size` in bytes"))?;
    Ok(SkillFile { uri, digest, size })
}

fn is_uri(uri: &str) -> bool {
    uri.len() <= UPSTREAM_NAME_BYTES && is_plain(uri)
}

fn is_name(name: &str) -> bool {
    let is_part =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    name.len() <= NAME && name.split('-').all(is_part)
}

/// Returns the folder of a skill in normal form, and the name of the folder. Returns `None` if `uri` is not the URI of a `SKILL.md` in a folder.
fn folder_of(uri: &str) -> Option<(String, String)> {
    let normal = normalized(uri);
    let root = normal.strip_suffix(SKILL_FILE)?;
    let (scheme, path) = root.split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let name = is_scheme.then(|| names(path)?.pop())??;
    Some((root.to_owned(), name))
}

/// Returns whether `uri` is a file in the folder `root`, which is in normal form.
fn is_inside(root: &str, uri: &str) -> bool {
    normalized(uri).strip_prefix(root).and_then(|rest| names(rest.strip_prefix('/')?)).is_some()
}

/// Returns the names in a path in normal form, without their escapes. Returns `None` if the path is not the only one for its names.
fn names(path: &str) -> Option<Vec<String>> {
    let is_name = |name: &str| {
        !matches!(name, "" | "." | "..")
            && !name.contains(|character: char| matches!(character, '/' | '\\') || character.is_control())
    };
    let name =
        |segment: &str| Some(percent_decode_str(segment).decode_utf8().ok()?.into_owned()).filter(|name| is_name(name));
    if path.contains(['?', '#']) { None } else { path.split('/').map(name).collect() }
}

/// Returns the digest of `bytes`: `sha256:` and 64 hexadecimal digits in lower case.
///
/// ```
/// let digest = edge_mcp::skills::digest(b"");
/// assert_eq!(digest, "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
/// ```
pub fn digest(bytes: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(bytes) {
        for half in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(half.into(), 16));
        }
    }
    text
}
