//! The tools by which a program publishes a folder of skills: it sends the files that are missing, and then the entries.

use edge_mcp::skills::digest;
use edge_mcp::{Context, HandlerError, ResourceContents, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::document::MAX_SET_CHARACTERS;
use crate::scopes;
use crate::skill_store::{self, MOST_FILE_BYTES};

/// The most files of one call. Each is a statement, and D1 limits the statements of a request to 50 in its free plan.
const TOGETHER: usize = 40;

/// The most bytes of all files of one call, as base64.
const MOST_BASE64_BYTES: usize = 2_500_000;

#[derive(Deserialize, JsonSchema)]
struct Digests {
    /// sha256: and 64 hexadecimal digits
    #[schemars(length(max = 1000), inner(length(max = 71)))]
    digests: Vec<String>,
}

/// Returns the tool `missing-skill-files`.
pub(crate) fn missing_skill_files() -> Tool {
    Tool::new("missing-skill-files", "Returns the digests of which no file is stored, one in a line.", missing)
        .title("Find missing files of skills")
        .scopes([scopes::WRITE])
        .read_only()
        .closed_world()
}

async fn missing(Digests { digests }: Digests, cx: Context) -> Result<String, HandlerError> {
    Ok(skill_store::missing(&digests, &cx).await?.join("\n"))
}

#[derive(Deserialize, JsonSchema)]
struct File {
    digest: String,
    base64: String,
}

#[derive(Deserialize, JsonSchema)]
struct Files {
    /// Together at most 2.5 MB
    #[schemars(length(min = 1, max = TOGETHER))]
    files: Vec<File>,
}

/// Returns the tool `save-skill-files`.
pub(crate) fn save_skill_files() -> Tool {
    Tool::new("save-skill-files", "Stores files for publish-skills, at most 1.5 MB each.", save)
        .title("Store files of skills")
        .scopes([scopes::WRITE])
        .additive()
        .idempotent()
        .closed_world()
}

async fn save(Files { files }: Files, cx: Context) -> Result<String, HandlerError> {
    let saved = files.len();
    if files.iter().map(|file| file.base64.len()).sum::<usize>() > MOST_BASE64_BYTES {
        return Err(HandlerError::invalid(format!(
            "`files` must have at most {MOST_BASE64_BYTES} bytes of base64 in one call."
        )));
    }
    let files = files.into_iter().map(checked).collect::<Result<_, _>>()?;
    skill_store::save(files, &cx).await?;
    Ok(format!("{saved} files stored"))
}

/// Returns the digest and the bytes of a file. The digest is calculated here, so that no other bytes are stored under it.
fn checked(File { digest: expected, base64 }: File) -> Result<(String, Vec<u8>), HandlerError> {
    let bytes = ResourceContents::blob_base64("", base64).ok().and_then(|contents| contents.bytes());
    match bytes {
        None => Err(HandlerError::invalid(format!(
            "The file of `{expected}` is not base64 with padding. No file was stored."
        ))),
        Some(bytes) if bytes.len() > MOST_FILE_BYTES => Err(HandlerError::invalid(format!(
            "The file of `{expected}` has {} bytes, and must have at most {MOST_FILE_BYTES}. No file was stored.",
            bytes.len()
        ))),
        Some(bytes) if digest(&bytes) != expected => Err(HandlerError::invalid(format!(
            "`{expected}` is not the digest of its file, which is `{}`. No file was stored.",
            digest(&bytes)
        ))),
        Some(bytes) => Ok((expected, bytes)),
    }
}

#[derive(Deserialize, JsonSchema)]
struct Publish {
    /// Its former skills are replaced
    #[schemars(length(min = 1, max = MAX_SET_CHARACTERS))]
    set: String,
    /// Each skill as JSON text, as in skills/list, ordered by URI
    #[schemars(length(max = 1000))]
    entries: Vec<String>,
    /// Media types by file extension, such as md=text/markdown
    #[serde(default)]
    types: Vec<String>,
}

/// Returns the tool `publish-skills`.
pub(crate) fn publish_skills() -> Tool {
    const DESCRIPTION: &str = "Replaces the skills of a set, all or none. Their files must be stored: call missing-skill-files and \
                               save-skill-files first. For programs such as scripts/load.";
    Tool::new("publish-skills", DESCRIPTION, publish)
        .title("Publish skills")
        .scopes([scopes::WRITE])
        .destructive()
        .idempotent()
        .closed_world()
}

async fn publish(Publish { set, entries, types }: Publish, cx: Context) -> Result<String, HandlerError> {
    skill_store::publish(&set, &entries, &types, &cx).await
}
