//! The checks of an entry of `skills/list`, for catalogs and for stores whose skills can change.
//!
//! Source: ext-skills, specification, "Skill URIs", "Frontmatter", "Resources".

use edge_json::{Document, JsonLimits, Kind, Value};
use edge_uri_template::normalized;
use percent_encoding::percent_decode_str;

use crate::limits::{SKILL_BYTES, SKILL_FILES, SKILL_URI_BYTES};

/// The name of the file that makes a folder a skill.
pub(crate) const SKILL_FILE: &str = "/SKILL.md";

/// A skill as its entry describes it: its files, with their digests.
///
/// ```
/// use edge_mcp::skills::SkillManifest;
///
/// let entry = r#"{"uri":"skill://refunds/SKILL.md","frontmatter":{"name":"refunds","description":"Refunds an order."},
///     "resources":[{"uri":"skill://refunds/SKILL.md","size":64,
///       "digest":"sha256:915cdaa478b1ae1e355ee1c95876b5ae6c1912fbfe86130be23b9fcbb9707e0e"}]}"#;
/// let skill = SkillManifest::parse(entry)?;
/// assert_eq!((skill.root(), skill.files.len()), ("skill://refunds", 1));
/// SkillManifest::check_nested(&[skill])?;
/// # Ok::<_, String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillManifest {
    /// The URI of the `SKILL.md`.
    pub uri: String,
    /// The files, ordered by their URIs. Those of skills inside the folder are among them.
    pub files: Vec<ListedFile>,
}

/// A file in a [`SkillManifest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFile {
    /// The URI.
    pub uri: String,
    /// `sha256:` and 64 hexadecimal digits in lower case.
    pub digest: String,
    /// The size in bytes.
    pub size: u64,
}

impl SkillManifest {
    /// Reads an entry, and checks it: the URIs, the name and the description, the digests, and the limits of a skill.
    ///
    /// # Errors
    /// The first mistake, as a sentence.
    pub fn parse(json: &str) -> Result<Self, String> {
        let document = Document::parse(json.as_bytes(), JsonLimits::DEFAULT)
            .map_err(|error| format!("An entry of a skill is not JSON: {error}."))?;
        let entry = document.root();
        let uri = entry.string("uri").ok_or("An entry of a skill has no `uri`.")?;
        read(&uri, entry).map_err(|problem| format!("The entry of `{uri}` {problem}."))
    }

    /// Returns the URI of the folder.
    pub fn root(&self) -> &str {
        self.uri.strip_suffix(SKILL_FILE).unwrap_or_default()
    }

    /// Checks that skills that are published together agree: they are ordered by their URIs, each `SKILL.md` is a skill of its own, and a
    /// skill inside another one has the same files there.
    ///
    /// # Errors
    /// The first mistake, as a sentence.
    pub fn check_nested(skills: &[Self]) -> Result<(), String> {
        for (skill, next) in skills.iter().zip(skills.iter().skip(1)) {
            if skill.uri >= next.uri {
                return Err(format!("The skills must be ordered by their URIs, each once (at `{}`).", next.uri));
            }
        }
        for outer in skills {
            for main in outer.files.iter().filter(|file| file.uri.ends_with(SKILL_FILE)) {
                if skills.binary_search_by(|skill| skill.uri.cmp(&main.uri)).is_err() {
                    return Err(format!("`{}` is in `{}`, and must also be a skill of its own.", main.uri, outer.uri));
                }
            }
            for inner in skills.iter().filter(|inner| is_inside(&inner.uri, outer.root())) {
                if !outer.files_in(inner.root()).eq(&inner.files) {
                    return Err(format!(
                        "The entries of `{}` and `{}` differ in the files of the inner one.",
                        outer.uri, inner.uri
                    ));
                }
            }
        }
        Ok(())
    }

    fn files_in<'s>(&'s self, root: &'s str) -> impl Iterator<Item = &'s ListedFile> {
        self.files.iter().filter(move |file| is_inside(&file.uri, root))
    }
}

fn is_inside(uri: &str, root: &str) -> bool {
    uri.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'))
}

/// Reads an entry, or returns the end of a sentence about it.
fn read(uri: &str, entry: Value<'_>) -> Result<SkillManifest, String> {
    let root = uri.strip_suffix(SKILL_FILE).ok_or("must have a URI that ends with `/SKILL.md`")?;
    let path = root.strip_prefix("skill://").ok_or("must have a URI that begins with `skill://`")?;
    if !path.split('/').all(is_folder_name) {
        return Err("must have folders of a-z, 0-9, `-`, `.` and `_`".into());
    }
    if uri.len() > SKILL_URI_BYTES {
        return Err(format!("must have URIs of at most {SKILL_URI_BYTES} bytes"));
    }
    let frontmatter = entry.get("frontmatter").ok_or("has no `frontmatter`")?;
    check_frontmatter(frontmatter, path.rsplit('/').next().unwrap_or_default())?;
    let resources = entry.get("resources").filter(|list| list.kind() == Kind::Array);
    let resources = resources.ok_or("must have a list of all files as `resources`")?;
    let (mut files, mut total): (Vec<ListedFile>, _) = (Vec::new(), 0_u64);
    for resource in resources.items() {
        let file = listed(resource, root)?;
        if files.last().is_some_and(|last| last.uri >= file.uri) {
            return Err(format!("must list each file once, in the order of the URIs (at `{}`)", file.uri));
        }
        total = total.saturating_add(file.size);
        files.push(file);
        if files.len() > SKILL_FILES {
            return Err(format!("must have at most {SKILL_FILES} files"));
        }
    }
    if total > SKILL_BYTES {
        return Err("must have files of at most 16 MiB together".into());
    }
    let is_listed = |uri: &str| files.binary_search_by(|file| file.uri.as_str().cmp(uri)).is_ok();
    if !is_listed(uri) {
        return Err("does not list its own SKILL.md".into());
    }
    let mut folders =
        files.iter().flat_map(|file| file.uri.match_indices('/').filter_map(|(at, _)| file.uri.get(..at)));
    if let Some(folder) = folders.find(|folder| is_listed(folder)) {
        return Err(format!("must not list a folder as a file (at `{folder}`)"));
    }
    Ok(SkillManifest { uri: uri.to_owned(), files })
}

fn is_folder_name(name: &str) -> bool {
    let is_edge = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let is_allowed = |byte: u8| is_edge(Some(byte)) || b"-._".contains(&byte);
    name.bytes().all(is_allowed) && is_edge(name.bytes().next()) && is_edge(name.bytes().next_back())
}

fn check_frontmatter(frontmatter: Value<'_>, folder: &str) -> Result<(), String> {
    let is_name = folder.len() <= 64 && !folder.contains("--") && !folder.contains(['.', '_']);
    if frontmatter.string("name").as_deref() != Some(folder) || !is_name {
        return Err(
            "must have a `name` of 1 to 64 characters of a-z, 0-9 and single hyphens, and its folder the same name"
                .into(),
        );
    }
    let is_text = |value: Option<Value<'_>>, most: usize| {
        value.and_then(Value::as_str).is_some_and(|text| (1..=most).contains(&text.chars().count()))
    };
    if !is_text(frontmatter.get("description"), 1024) {
        return Err("must have a `description` of 1 to 1024 characters".into());
    }
    let compatibility = frontmatter.get("compatibility");
    if compatibility.is_some() && !is_text(compatibility, 500) {
        return Err("must have a `compatibility` of 1 to 500 characters, or none".into());
    }
    if let Some(metadata) = frontmatter.get("metadata")
        && !(metadata.kind() == Kind::Object && metadata.members().all(|(_, value)| value.kind() == Kind::String))
    {
        return Err("must have texts as values of `metadata`".into());
    }
    if has_key(frontmatter, "__proto__") { Err("must not have a key `__proto__`".into()) } else { Ok(()) }
}

/// Returns whether an object in `value` has the key. The depth of a document is limited.
fn has_key(value: Value<'_>, key: &str) -> bool {
    value.members().any(|(name, value)| name == key || has_key(value, key))
        || value.items().any(|item| has_key(item, key))
}

fn listed(resource: Value<'_>, root: &str) -> Result<ListedFile, String> {
    let uri = resource.string("uri").ok_or("has a file without `uri`")?;
    let path = uri.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
    let is_path = uri.len() <= SKILL_URI_BYTES
        && path.is_some_and(|path| path.split('/').all(is_file_name))
        && normalized(&uri) == uri;
    let digits = resource.string("digest").and_then(|digest| digest.strip_prefix("sha256:").map(str::to_owned));
    let digits =
        digits.filter(|digits| digits.len() == 64 && digits.bytes().all(|digit| b"0123456789abcdef".contains(&digit)));
    let size = resource.get("size").and_then(|size| size.text().parse().ok());
    match (is_path, digits, size) {
        (false, ..) => Err(format!(
            "must have files in its folder, with URIs in normal form of at most {SKILL_URI_BYTES} bytes (at `{uri}`)"
        )),
        (_, None, _) => Err(format!("must have a `digest` of `sha256:` and 64 digits in lower case (at `{uri}`)")),
        (_, _, None) => Err(format!("must have a `size` in bytes (at `{uri}`)")),
        (_, Some(digits), Some(size)) => Ok(ListedFile { uri, digest: format!("sha256:{digits}"), size }),
    }
}

/// Returns whether a segment of a URI in normal form is the name of a file. Names that begin with a dot are not served.
fn is_file_name(segment: &str) -> bool {
    let Ok(name) = percent_decode_str(segment).decode_utf8() else { return false };
    let is_special = |character: char| matches!(character, '\\' | '\u{7f}' | '\0'..='\u{1f}');
    // `?` and `#` end the path of a URI, and `%2F` is not a separator.
    !name.is_empty()
        && !name.starts_with('.')
        && !name.contains(is_special)
        && !name.contains('/')
        && !segment.contains(['?', '#'])
}
