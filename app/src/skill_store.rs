//! The skills in the database.
//!
//! Each request of a client reads them with one statement, which sees one state of the database.

use std::collections::{BTreeMap, BTreeSet};

use edge_mcp::json::write;
use edge_mcp::skills::{SkillChild, SkillEntry, SkillFile, SkillFuture, SkillManifest, SkillStore};
use edge_mcp::storage::{Database, DatabaseFailure, Statement};
use edge_mcp::{Context, HandlerError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::store::{Documents, StoreError};

/// The first part of the URIs of the skills that are compiled in.
const COMPILED_IN: &str = "skill://edge-mcp/";

/// The most bytes of a file. D1 limits a row to 2,000,000 bytes.
pub(crate) const MOST_FILE_BYTES: usize = 1_500_000;

/// The most bytes of an entry as a JSON string. So a page of `skills/list` is within the limit of the rows of a statement.
const MOST_ENTRY_BYTES: usize = 300_000;

/// The bytes from which on the next rows are in another statement. D1 limits a parameter to 2,000,000 bytes, and a row of this program has
/// at most 500,000.
const CHUNK_BYTES: usize = 1_000_000;

/// The most files and folders of a page. A folder has less, because a skill has at most 512 files.
const MOST_CHILDREN: usize = 1000;

/// The most statements with rows. A row repeats URIs, so rows can be far longer than the request.
const MOST_CHUNKS: usize = 10;

const LIST: &str = "SELECT uri, entry FROM skills WHERE uri > ?1 ORDER BY uri LIMIT ?2";

const GET: &str = "SELECT uri, entry FROM skills WHERE uri = ?1";

/// The bytes and the digest are those of one state. The library compares them.
const READ: &str = "SELECT mime, path.digest AS digest, bytes FROM skill_paths AS path \
     JOIN skill_files AS file ON file.digest = path.digest WHERE uri = ?1";

/// Lists the children of a folder. Without further children, the only row has no child. An unknown folder has no row.
const DIRECTORY: &str = "SELECT child.uri, child.mime, child.size FROM skill_paths AS folder \
     LEFT JOIN skill_paths AS child ON child.parent = folder.uri AND child.uri > ?2 \
     WHERE folder.uri = ?1 AND folder.digest IS NULL ORDER BY child.uri LIMIT ?3";

const MISSING: &str =
    "SELECT value FROM json_each(?1) WHERE NOT EXISTS (SELECT 1 FROM skill_files WHERE digest = value)";

const SAVE: &str = "INSERT INTO skill_files (digest, size, bytes) VALUES (?1, length(?2), ?2) ON CONFLICT DO NOTHING";

/// Finds the skills of other sets than `?1` in the folders `?2`, or anywhere inside the folders `?3`. The index of URIs finds both.
const OF_OTHER_SETS: &str = "SELECT uri, entry, set_name FROM skills \
     WHERE uri IN (SELECT value || '/SKILL.md' FROM json_each(?2)) AND set_name <> ?1 \
     UNION ALL SELECT uri, entry, set_name FROM json_each(?3) JOIN skills ON uri > value || '/' AND uri < value || '/' || char(1114111) \
     WHERE set_name <> ?1";

const REMOVE: &str = "DELETE FROM skills WHERE set_name = ?1 RETURNING uri, entry";

const ADD: &str = "INSERT INTO skills (uri, entry, set_name) SELECT value->>0, value->>1, ?2 FROM json_each(?1)";

const ADD_PATHS: &str = "INSERT INTO skill_paths (uri, skill, parent, digest, size, mime) \
     SELECT value->>0, value->>1, value->>2, value->>3, value->>4, value->>5 FROM json_each(?1)";

const DELETE_UNUSED: &str = "DELETE FROM skill_files WHERE NOT EXISTS (SELECT 1 FROM skill_paths WHERE skill_paths.digest = skill_files.digest)";

/// Finds a digest and a size of `?1` that no stored file has.
const NOT_STORED: &str = "SELECT value->>0 FROM json_each(?1) WHERE value->>3 IS NOT NULL AND NOT EXISTS \
     (SELECT 1 FROM skill_files WHERE digest = value->>3 AND size = value->>4) LIMIT 1";

/// The skills of the database of [`Documents`].
#[derive(Clone, Copy)]
pub(crate) struct StoredSkills;

/// The row of a file or a folder: its URI, skill, folder, digest, size and media type.
type Path<'a> = (&'a str, &'a str, &'a str, Option<&'a str>, Option<u64>, Option<&'a str>);

/// The result of [`publish`].
#[derive(Default)]
pub(crate) struct Changes {
    /// The URIs of new and changed skills.
    pub(crate) published: Vec<String>,
    pub(crate) removed: Vec<String>,
    pub(crate) unchanged: usize,
}

fn database(cx: &Context) -> Result<Database, HandlerError> {
    Ok(cx.state::<Documents>()?.database().clone())
}

async fn rows<T: DeserializeOwned>(statement: Statement) -> Result<Vec<T>, HandlerError> {
    Ok(statement.all().await.map_err(StoreError::from)?)
}

/// Returns the digests of the list that no stored file has.
pub(crate) async fn missing(digests: &[String], cx: &Context) -> Result<Vec<String>, HandlerError> {
    rows(database(cx)?.query(MISSING).bind(write::to_string(digests)?)).await
}

/// Stores files by their digests.
pub(crate) async fn save(files: Vec<(String, Vec<u8>)>, cx: &Context) -> Result<(), HandlerError> {
    let database = database(cx)?;
    let save = |(digest, bytes): (String, Vec<u8>)| database.query(SAVE).bind(digest).bind(bytes);
    database.batch(files.into_iter().map(save)).await.map_err(StoreError::from)?;
    Ok(())
}

/// Replaces the skills of a set: all of them, or none. `types` has the media types of extensions.
///
/// The batch has one statement for about 1 MB of rows, because D1 limits the statements of a request.
pub(crate) async fn publish(
    set: &str,
    entries: &[String],
    types: &BTreeMap<String, String>,
    cx: &Context,
) -> Result<Changes, HandlerError> {
    let skills = entries.iter().map(|entry| SkillManifest::parse(entry)).collect::<Result<Vec<_>, _>>();
    let skills = skills.and_then(|skills| SkillManifest::check_nested(&skills).map(|()| skills));
    let skills = skills.map_err(|problem| HandlerError::invalid(format!("{problem} Nothing was published.")))?;
    if let Some(skill) = skills.iter().find(|skill| skill.uri.starts_with(COMPILED_IN)) {
        return Err(HandlerError::invalid(format!(
            "`{}` begins with `{COMPILED_IN}`, which is for skills of the program. Choose another prefix. Nothing was published.",
            skill.uri
        )));
    }
    let paths = chunks(paths(&skills, types).values())?;
    let added = skills.iter().zip(entries).map(|(skill, entry)| row(skill, entry)).collect::<Result<Vec<_>, _>>()?;
    let added = chunks(added)?;
    let around: BTreeSet<_> = skills.iter().flat_map(|skill| above(skill.root())).collect();
    let (around, inside) = (one_chunk(around)?, one_chunk(skills.iter().map(SkillManifest::root))?);

    let database = database(cx)?;
    let of_other_sets = |sql: String| database.query(sql).bind(set).bind(&around).bind(&inside);
    // A skill of another set violates the primary key, so that the batch fails.
    let mut batch = vec![of_other_sets(format!("INSERT INTO skills (uri, entry, set_name) {OF_OTHER_SETS}"))];
    batch.push(database.query(REMOVE).bind(set));
    batch.extend(added.iter().map(|rows| database.query(ADD).bind(rows).bind(set)));
    batch.extend(paths.iter().map(|rows| database.query(ADD_PATHS).bind(rows)));
    batch.push(database.query(DELETE_UNUSED));
    let results = match database.batch(batch).await {
        Err(error) if error.kind == DatabaseFailure::Constraint => {
            let others = rows(of_other_sets(OF_OTHER_SETS.to_owned())).await?;
            return Err(match conflict(&database, others, &paths).await? {
                Some(problem) => HandlerError::invalid(format!("{problem} Nothing was published.")),
                None => StoreError::from(error).into(),
            });
        }
        results => results.map_err(StoreError::from)?,
    };
    let removed = results.get(1).map(|rows| rows.all::<(String, String)>()).transpose().map_err(StoreError::from)?;
    let mut before: BTreeMap<_, _> = removed.into_iter().flatten().collect();
    let mut changes = Changes::default();
    for (skill, entry) in skills.into_iter().zip(entries) {
        if before.remove(&skill.uri).as_ref() == Some(entry) {
            changes.unchanged = changes.unchanged.saturating_add(1);
        } else {
            changes.published.push(skill.uri);
        }
    }
    changes.removed = before.into_keys().collect();
    Ok(changes)
}

/// Returns the reason why the tables reject skills. `others` are skills of other sets, with their entries and sets.
async fn conflict(
    database: &Database,
    others: Vec<(String, String, String)>,
    paths: &[String],
) -> Result<Option<String>, HandlerError> {
    if let Some((uri, _, set)) = others.first() {
        return Ok(Some(format!(
            "`{uri}` belongs to the set `{set}`, and skills of two sets cannot be inside one another. Choose another prefix, or publish \
             them in this set."
        )));
    }
    for chunk in paths {
        if let Some(uri) = rows::<String>(database.query(NOT_STORED).bind(chunk)).await?.first() {
            return Ok(Some(format!(
                "No stored file has the digest and the size of `{uri}`. Call missing-skill-files and save-skill-files, and publish the \
                 skills again."
            )));
        }
    }
    Ok(None)
}

/// Returns the row of a skill.
fn row<'a>(skill: &'a SkillManifest, entry: &'a str) -> Result<(&'a str, &'a str), HandlerError> {
    let bytes = write::to_string(entry)?.len();
    if bytes <= MOST_ENTRY_BYTES {
        return Ok((&skill.uri, entry));
    }
    Err(HandlerError::invalid(format!(
        "The entry of `{}` has {bytes} bytes, and must have at most {MOST_ENTRY_BYTES}. Use shorter names, or divide the skill. \
         Nothing was published.",
        skill.uri
    )))
}

/// Returns the rows of the files and folders of skills, by their URIs. A row names the innermost skill.
fn paths<'a>(skills: &'a [SkillManifest], types: &'a BTreeMap<String, String>) -> BTreeMap<&'a str, Path<'a>> {
    // An outer skill comes before those inside it, which replace its rows.
    let mut outer_first: Vec<_> = skills.iter().collect();
    outer_first.sort_unstable_by_key(|skill| skill.root());
    let mut paths = BTreeMap::new();
    for skill in outer_first {
        for file in &skill.files {
            let extension = file.uri.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
            let mime =
                extension.and_then(|extension| types.get(&extension)).map_or("application/octet-stream", |mime| mime);
            let row: Path<'_> =
                (&file.uri, &skill.uri, parent(&file.uri), Some(&file.digest), Some(file.size), Some(mime));
            paths.insert(&*file.uri, row);
            for folder in above(parent(&file.uri)).take_while(|folder| folder.len() >= skill.root().len()) {
                paths.insert(folder, (folder, &*skill.uri, parent(folder), None, None, None));
            }
        }
    }
    paths
}

fn parent(uri: &str) -> &str {
    uri.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Returns a folder and those above it.
fn above(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| Some(parent(folder)))
        .take_while(|folder| folder.len() > "skill://".len())
}

/// Writes rows as JSON arrays of about 1 MB.
fn chunks(rows: impl IntoIterator<Item = impl Serialize>) -> Result<Vec<String>, HandlerError> {
    let mut chunks: Vec<String> = Vec::new();
    for row in rows {
        let row = write::to_string(&row)?;
        match chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK_BYTES => chunk.extend([",", &row]),
            _ => chunks.push(format!("[{row}")),
        }
        if chunks.len() > MOST_CHUNKS {
            return Err(too_many());
        }
    }
    chunks.iter_mut().for_each(|chunk| chunk.push(']'));
    Ok(chunks)
}

/// Writes rows as one JSON array.
fn one_chunk(rows: impl IntoIterator<Item = impl Serialize>) -> Result<String, HandlerError> {
    let mut chunks = chunks(rows)?;
    match (chunks.pop(), chunks.pop()) {
        (chunk, None) => Ok(chunk.unwrap_or_else(|| "[]".to_owned())),
        _ => Err(too_many()),
    }
}

fn too_many() -> HandlerError {
    HandlerError::invalid("The skills are too many for one set: divide them into several sets. Nothing was published.")
}

fn entry((uri, json): (String, String)) -> SkillEntry {
    SkillEntry { uri, json: json.into(), scopes: Vec::new() }
}

impl SkillStore for StoredSkills {
    fn list(&self, after: Option<String>, limit: usize, cx: &Context) -> SkillFuture<Vec<SkillEntry>> {
        let database = database(cx);
        Box::pin(async move {
            let entries = rows(database?.query(LIST).bind(after.unwrap_or_default()).bind(limit)).await?;
            Ok(entries.into_iter().map(entry).collect())
        })
    }

    fn get(&self, uri: String, cx: &Context) -> SkillFuture<Option<SkillEntry>> {
        let database = database(cx);
        Box::pin(async move { Ok(rows(database?.query(GET).bind(uri)).await?.into_iter().next().map(entry)) })
    }

    fn read(&self, uri: String, cx: &Context) -> SkillFuture<Option<SkillFile>> {
        let database = database(cx);
        Box::pin(async move {
            let found: Vec<(String, String, Vec<u8>)> = rows(database?.query(READ).bind(&uri)).await?;
            let file = |(mime, digest, bytes): (String, _, _)| SkillFile {
                uri,
                mime_type: mime.into(),
                digest: Some(digest),
                bytes,
                scopes: Vec::new(),
            };
            Ok(found.into_iter().next().map(file))
        })
    }

    fn directory(
        &self,
        uri: String,
        after: Option<String>,
        limit: usize,
        cx: &Context,
    ) -> SkillFuture<Option<Vec<SkillChild>>> {
        let database = database(cx);
        Box::pin(async move {
            let statement =
                database?.query(DIRECTORY).bind(uri).bind(after.unwrap_or_default()).bind(limit.min(MOST_CHILDREN));
            let found: Vec<(Option<String>, Option<String>, Option<u64>)> = rows(statement).await?;
            if found.is_empty() {
                return Ok(None);
            }
            let child = |(uri, mime, size): (Option<String>, Option<String>, _)| {
                Some(SkillChild::new(uri?, mime.map(Into::into), size))
            };
            Ok(Some(found.into_iter().filter_map(child).collect()))
        })
    }
}
