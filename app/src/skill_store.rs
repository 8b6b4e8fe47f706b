//! The skills in the database.
//!
//! Each request of a client reads them with one statement, which sees one state of the database.

use edge_mcp::json::write;
use edge_mcp::skills::{SkillChild, SkillContent, SkillEntry, SkillFile, SkillFuture, SkillRecord, SkillStore};
use edge_mcp::storage::{Database, DatabaseFailure, Rows, Statement};
use edge_mcp::{Context, HandlerError};

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

// All statements that return rows return the columns of `Row`, so that one function reads them.

const LIST: &str = "SELECT uri AS a, entry AS b, NULL AS c, NULL AS d FROM skills WHERE uri > ?1 ORDER BY uri LIMIT ?2";

const GET: &str = "SELECT uri AS a, entry AS b, NULL AS c, NULL AS d FROM skills WHERE uri = ?1";

/// The bytes and the digest are those of one state. The library compares them.
const READ: &str = "SELECT mime AS a, path.digest AS b, NULL AS c, bytes AS d FROM skill_paths AS path \
     JOIN skill_files AS file ON file.digest = path.digest WHERE uri = ?1";

/// Lists the children of a folder. Without further children, the only row has no child. An unknown folder has no row.
const DIRECTORY: &str = "SELECT child.uri AS a, child.mime AS b, child.size AS c, NULL AS d FROM skill_paths AS folder \
     LEFT JOIN skill_paths AS child ON child.parent = folder.uri AND child.uri > ?2 \
     WHERE folder.uri = ?1 AND folder.digest IS NULL ORDER BY child.uri LIMIT ?3";

const MISSING: &str = "SELECT value AS a, NULL AS b, NULL AS c, NULL AS d FROM json_each(?1) \
     WHERE NOT EXISTS (SELECT 1 FROM skill_files WHERE digest = value)";

const SAVE: &str = "INSERT INTO skill_files (digest, size, bytes) VALUES (?1, length(?2), ?2) ON CONFLICT DO NOTHING";

/// Finds the skills of other sets than `?1` in the folders `?2`, or anywhere inside the folders `?3`. The index of URIs finds both.
const OF_OTHER_SETS: &str = "SELECT uri, entry, set_name FROM skills \
     WHERE uri IN (SELECT value->>0 || '/SKILL.md' FROM json_each(?2)) AND set_name <> ?1 \
     UNION ALL SELECT uri, entry, set_name FROM json_each(?3) JOIN skills ON uri > value->>0 || '/' AND uri < value->>0 || '/' || char(1114111) \
     WHERE set_name <> ?1";

const REMOVE: &str = "DELETE FROM skills WHERE set_name = ?1 RETURNING uri AS a, entry AS b, NULL AS c, NULL AS d";

const ADD: &str = "INSERT INTO skills (uri, entry, set_name) SELECT value->>0, value->>1, ?2 FROM json_each(?1)";

const ADD_PATHS: &str = "INSERT INTO skill_paths (uri, skill, parent, digest, size, mime) \
     SELECT value->>0, value->>1, value->>2, value->>3, value->>4, value->>5 FROM json_each(?1)";

const DELETE_UNUSED: &str = "DELETE FROM skill_files WHERE NOT EXISTS (SELECT 1 FROM skill_paths WHERE skill_paths.digest = skill_files.digest)";

/// Finds a digest and a size of `?1` that no stored file has.
const NOT_STORED: &str = "SELECT value->>0 AS a, NULL AS b, NULL AS c, NULL AS d FROM json_each(?1) WHERE value->>3 IS NOT NULL AND NOT EXISTS \
     (SELECT 1 FROM skill_files WHERE digest = value->>3 AND size = value->>4) LIMIT 1";

/// The skills of the database of [`Documents`].
#[derive(Clone, Copy)]
pub(crate) struct StoredSkills;

/// The row of a statement.
type Row = (Option<String>, Option<String>, Option<u64>, Option<Vec<u8>>);

fn database(cx: &Context) -> Result<Database, HandlerError> {
    Ok(cx.state::<Documents>()?.database().clone())
}

async fn rows(statement: Statement) -> Result<Vec<Row>, HandlerError> {
    Ok(statement.all().await.map_err(StoreError::from)?)
}

/// Returns the digests of the list that no stored file has.
pub(crate) async fn missing(digests: &[String], cx: &Context) -> Result<Vec<String>, HandlerError> {
    let missing = rows(database(cx)?.query(MISSING).bind(write::to_string(digests)?)).await?;
    Ok(missing.into_iter().filter_map(|(digest, ..)| digest).collect())
}

/// Stores files by their digests.
pub(crate) async fn save(files: Vec<(String, Vec<u8>)>, cx: &Context) -> Result<(), HandlerError> {
    let database = database(cx)?;
    let save = |(digest, bytes): (String, Vec<u8>)| database.query(SAVE).bind(digest).bind(bytes);
    database.batch(files.into_iter().map(save)).await.map_err(StoreError::from)?;
    Ok(())
}

/// Replaces the skills of a set: all of them, or none. `types` has the media types of extensions, such as `md=text/markdown`. Returns a line
/// for each change, and one with the numbers.
///
/// The batch has one statement for about 1 MB of rows, because D1 limits the statements of a request.
pub(crate) async fn publish(
    set: &str,
    entries: &[String],
    types: &[String],
    cx: &Context,
) -> Result<String, HandlerError> {
    let skills = checked(entries).map_err(refused)?;
    let mut paths = Chunks::default();
    skills.iter().try_for_each(|skill| add_paths(skill, types, &mut paths))?;
    let (mut added, mut around, mut inside) = (Chunks::default(), Chunks::default(), Chunks::default());
    for (skill, entry) in skills.iter().zip(entries) {
        added.add(&[Some(skill.uri()), Some(entry)])?;
        inside.add(&[Some(skill.root())])?;
        above(skill.root()).try_for_each(|folder| around.add(&[Some(folder)]))?;
    }
    let (around, inside) = (around.only()?, inside.only()?);
    let database = database(cx)?;
    let of_other_sets = |sql: String| database.query(sql).bind(set).bind(&around).bind(&inside);
    // A skill of another set violates the primary key, so that the batch fails.
    let mut batch = vec![of_other_sets(format!("INSERT INTO skills (uri, entry, set_name) {OF_OTHER_SETS}"))];
    batch.push(database.query(REMOVE).bind(set));
    batch.extend(added.finish().map(|rows| database.query(ADD).bind(rows).bind(set)));
    let paths: Vec<_> = paths.finish().collect();
    batch.extend(paths.iter().map(|rows| database.query(ADD_PATHS).bind(rows)));
    batch.push(database.query(DELETE_UNUSED));
    let results = match database.batch(batch).await {
        Err(error) if error.kind == DatabaseFailure::Constraint => {
            let others = format!("SELECT uri AS a, set_name AS b, NULL AS c, NULL AS d FROM ({OF_OTHER_SETS})");
            if let Some((Some(uri), Some(other), ..)) = rows(of_other_sets(others)).await?.into_iter().next() {
                return Err(refused(format!(
                    "`{uri}` belongs to the set `{other}`, and skills of two sets cannot be inside one another. Choose another prefix, \
                     or publish them in this set."
                )));
            }
            for chunk in paths {
                if let Some((Some(uri), ..)) = rows(database.query(NOT_STORED).bind(chunk)).await?.into_iter().next() {
                    return Err(refused(format!(
                        "No stored file has the digest and the size of `{uri}`. Call missing-skill-files and save-skill-files, and \
                         publish the skills again."
                    )));
                }
            }
            return Err(StoreError::from(error).into());
        }
        results => results.map_err(StoreError::from)?,
    };
    let before: Vec<Row> = results.get(1).map_or(Ok(Vec::new()), Rows::all).map_err(StoreError::from)?;
    Ok(report(&skills, entries, &before))
}

fn refused(problem: String) -> HandlerError {
    HandlerError::invalid(format!("{problem} Nothing was published."))
}

/// Reads and checks entries.
fn checked(entries: &[String]) -> Result<Vec<SkillEntry>, String> {
    let mut skills = Vec::new();
    for entry in entries {
        let skill = SkillEntry::parse(entry)?;
        if skill.uri().starts_with(COMPILED_IN) {
            return Err(format!(
                "`{}` begins with `{COMPILED_IN}`, which is for skills of the program. Choose another prefix.",
                skill.uri()
            ));
        }
        // The rows of a page have two characters for each of these.
        let escaped = entry.bytes().filter(|byte| b"\"\\\n\r\t".contains(byte)).count();
        let bytes = entry.len().saturating_add(escaped);
        if bytes > MOST_ENTRY_BYTES {
            return Err(format!(
                "The entry of `{}` has {bytes} bytes, and must have at most {MOST_ENTRY_BYTES}. Use shorter names, or divide the skill.",
                skill.uri()
            ));
        }
        skills.push(skill);
    }
    SkillEntry::check_nested(&skills)?;
    Ok(skills)
}

/// Describes the changes from the rows `before`.
fn report(skills: &[SkillEntry], entries: &[String], before: &[Row]) -> String {
    let had = |skill: &SkillEntry, entry: &String| {
        before.iter().any(|(uri, old, ..)| uri.as_deref() == Some(skill.uri()) && old.as_ref() == Some(entry))
    };
    let published =
        skills.iter().zip(entries).filter(|(skill, entry)| !had(skill, entry)).map(|(skill, _)| skill.uri());
    let published: Vec<_> = published.collect();
    let is_removed = |uri: &&str| skills.iter().all(|skill| skill.uri() != *uri);
    let removed: Vec<_> = before.iter().filter_map(|(uri, ..)| uri.as_deref()).filter(is_removed).collect();
    let mut report = String::new();
    for (change, uris) in [("published ", &published), ("removed ", &removed)] {
        for uri in uris {
            report.extend([change, uri, "\n"]);
        }
    }
    let unchanged = skills.len().saturating_sub(published.len());
    format!("{report}{} published, {unchanged} unchanged, {} removed", published.len(), removed.len())
}

/// Adds the rows of the files and folders of a skill, apart from those of skills inside it.
fn add_paths(skill: &SkillEntry, types: &[String], paths: &mut Chunks) -> Result<(), HandlerError> {
    let files = skill.files().unwrap_or_default();
    let inner: Vec<_> = files.iter().filter_map(|file| file.uri.strip_suffix("/SKILL.md")).collect();
    let is_own = |uri: &str| !inner.iter().any(|root| *root != skill.root() && (uri == *root || is_inside(uri, root)));
    let mut last = "";
    for SkillFile { uri, digest, size, .. } in files {
        for folder in above(parent(uri)).take_while(|folder| folder.len() >= skill.root().len()) {
            // The files are in the order of their URIs, so those of a folder follow one another.
            if is_own(folder) && !is_inside(last, folder) {
                paths.add(&[Some(folder), Some(skill.uri()), Some(parent(folder)), None, None, None])?;
            }
        }
        if is_own(uri) {
            let size = size.to_string();
            paths.add(&[
                Some(uri),
                Some(skill.uri()),
                Some(parent(uri)),
                Some(digest),
                Some(&size),
                Some(media_type(uri, types)),
            ])?;
        }
        last = uri;
    }
    Ok(())
}

/// Returns the media type of a file by its extension.
fn media_type<'t>(uri: &str, types: &'t [String]) -> &'t str {
    let extension = uri.rsplit_once('.').map_or("", |(_, extension)| extension);
    let mut types = types.iter().filter_map(|known| known.split_once('='));
    types
        .find(|(known, _)| known.eq_ignore_ascii_case(extension))
        .map_or("application/octet-stream", |(_, known)| known)
}

fn is_inside(uri: &str, folder: &str) -> bool {
    uri.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

fn parent(uri: &str) -> &str {
    uri.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Returns a folder and those above it.
fn above(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| Some(parent(folder)))
        .take_while(|folder| folder.len() > "skill://".len())
}

/// Rows as JSON arrays of about 1 MB.
#[derive(Default)]
struct Chunks(Vec<String>);

impl Chunks {
    fn add(&mut self, row: &[Option<&str>]) -> Result<(), HandlerError> {
        let row = write::to_string(row)?;
        let is_full = self.0.len() == MOST_CHUNKS;
        match self.0.last_mut() {
            Some(chunk) if chunk.len() < CHUNK_BYTES => chunk.extend([",", &row]),
            _ if is_full => return Err(too_many()),
            _ => self.0.push(format!("[{row}")),
        }
        Ok(())
    }

    fn finish(self) -> impl Iterator<Item = String> {
        self.0.into_iter().map(|chunk| chunk + "]")
    }

    /// Returns all rows as one array.
    fn only(self) -> Result<String, HandlerError> {
        if self.0.len() > 1 { Err(too_many()) } else { Ok(self.finish().next().unwrap_or_else(|| "[]".to_owned())) }
    }
}

fn too_many() -> HandlerError {
    refused("The skills are too many for one set: divide them into several sets.".to_owned())
}

/// Returns the skills of rows of [`LIST`] and [`GET`].
async fn entries(statement: Statement) -> Result<Vec<SkillRecord>, HandlerError> {
    let entry = |(uri, json, ..): Row| Some(SkillRecord { uri: uri?, json: json?.into(), scopes: Vec::new() });
    Ok(rows(statement).await?.into_iter().filter_map(entry).collect())
}

impl SkillStore for StoredSkills {
    fn list(&self, after: Option<String>, limit: usize, cx: &Context) -> SkillFuture<Vec<SkillRecord>> {
        let database = database(cx);
        Box::pin(async move { entries(database?.query(LIST).bind(after.unwrap_or_default()).bind(limit)).await })
    }

    fn get(&self, uri: String, cx: &Context) -> SkillFuture<Option<SkillRecord>> {
        let database = database(cx);
        Box::pin(async move { Ok(entries(database?.query(GET).bind(uri)).await?.pop()) })
    }

    fn read(&self, uri: String, cx: &Context) -> SkillFuture<Option<SkillContent>> {
        let database = database(cx);
        Box::pin(async move {
            let found = rows(database?.query(READ).bind(&uri)).await?.pop();
            Ok(found.and_then(|(mime, digest, _, bytes)| {
                Some(SkillContent { uri, mime_type: Some(mime?.into()), digest, bytes: bytes?, scopes: Vec::new() })
            }))
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
            let limit = limit.min(MOST_CHILDREN);
            let found = rows(database?.query(DIRECTORY).bind(uri).bind(after.unwrap_or_default()).bind(limit)).await?;
            let is_known = !found.is_empty();
            let child = |(uri, mime, size, _): Row| Some(SkillChild::new(uri?, mime.map(Into::into), size));
            Ok(is_known.then(|| found.into_iter().filter_map(child).collect()))
        })
    }
}
