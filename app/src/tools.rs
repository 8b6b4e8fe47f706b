//! The tools that read, save, delete and list documents.

use edge_mcp::rag::IndexReport;
use edge_mcp::{Context, HandlerError, Json, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Document, MAX_SET_CHARACTERS, Slug};
use crate::scopes;
use crate::search_settings::SearchSettings;
use crate::store::Documents;

/// The name of the tool that reads one document.
pub(crate) const READ_DOCUMENT: &str = "read-document";

#[derive(Deserialize, JsonSchema)]
struct Read {
    /// The document's slug, as a search returns it
    // It may be percent-encoded, as in a URI.
    #[schemars(with = "String", length(min = 1, max = 800))]
    slug: Slug,
}

// A saved document.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Saved {
    slug: String,
    /// The resource with the document
    uri: String,
}

impl From<&Document> for Saved {
    fn from(document: &Document) -> Self {
        Self { slug: document.slug.as_str().to_owned(), uri: document.slug.uri() }
    }
}

/// A result, and the state of the vectors. A server without an embedding model publishes only the result.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Embedded<T> {
    #[serde(flatten)]
    result: T,
    /// Passages without a vector. run_reindex makes their vectors
    pending: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl<T> Embedded<T> {
    pub(crate) fn new(result: T, IndexReport { pending, note, .. }: IndexReport) -> Self {
        Self { result, pending, note }
    }
}

/// Returns the tool `read-document`.
pub(crate) fn read_document() -> Tool {
    Tool::new(READ_DOCUMENT, "Returns the whole text of one document, in Markdown.", read)
        .title("Read a document")
        .scopes([scopes::READ])
        .read_only()
        .closed_world()
}

/// Returns the tool `save-document`.
pub(crate) fn save_document(settings: &SearchSettings) -> Tool {
    const NAME: &str = "save-document";
    const DESCRIPTION: &str = "Creates a document, or replaces the document with the same slug.";
    let tool = match settings.embedder {
        Some(_) => Tool::new(NAME, DESCRIPTION, save_and_embed),
        None => Tool::new(NAME, DESCRIPTION, save),
    };
    tool.title("Save a document").scopes([scopes::WRITE]).destructive().idempotent().closed_world()
}

/// Returns the tool `delete-document`.
pub(crate) fn delete_document() -> Tool {
    Tool::new("delete-document", "Deletes a document.", delete)
        .title("Delete a document")
        .scopes([scopes::WRITE])
        .destructive()
        .idempotent()
        .closed_world()
}

/// Returns the tool `list-set`.
pub(crate) fn list_set() -> Tool {
    const DESCRIPTION: &str = "Lists the slugs and hashes of the documents of a set, at most 1000 per call. For programs that \
                               keep a set up to date.";
    Tool::new("list-set", DESCRIPTION, list)
        .title("List a set of documents")
        .scopes([scopes::WRITE])
        .read_only()
        .closed_world()
}

async fn read(Read { slug }: Read, cx: Context) -> Result<String, HandlerError> {
    cx.state::<Documents>()?.read(&slug).await?.ok_or_else(|| not_found(&slug))
}

async fn save(document: Document, cx: Context) -> Result<Json<Saved>, HandlerError> {
    cx.state::<Documents>()?.save(std::slice::from_ref(&document)).await?;
    Ok(Json(Saved::from(&document)))
}

async fn save_and_embed(document: Document, cx: Context) -> Result<Json<Embedded<Saved>>, HandlerError> {
    let Json(saved) = save(document, cx.clone()).await?;
    Ok(Json(Embedded::new(saved, cx.state::<Documents>()?.embed(&cx).await)))
}

#[derive(Deserialize, JsonSchema)]
struct Delete {
    /// The document's slug
    #[schemars(with = "String", length(min = 1, max = 200))]
    slug: Slug,
    /// Deletes the document only if it belongs to this set
    #[schemars(length(min = 1, max = MAX_SET_CHARACTERS))]
    #[serde(default)]
    set: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Deleted {
    /// Whether the document existed, and belonged to the set
    existed: bool,
}

async fn delete(Delete { slug, set }: Delete, cx: Context) -> Result<Json<Deleted>, HandlerError> {
    let existed = cx.state::<Documents>()?.delete(&slug, set.as_deref()).await?;
    Ok(Json(Deleted { existed }))
}

/// The most documents of one page of list-set.
const PAGE: u32 = 1000;

#[derive(Deserialize, JsonSchema)]
struct List {
    /// The name of the set
    #[schemars(length(min = 1, max = MAX_SET_CHARACTERS))]
    set: String,
    /// `next` of the page before
    #[schemars(length(max = 200))]
    #[serde(default)]
    after: String,
}

#[derive(Serialize, JsonSchema)]
struct Listed {
    /// The documents, sorted by slug
    documents: Vec<Member>,
    /// `after` for the next page, if there may be one
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Member {
    slug: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
}

async fn list(List { set, after }: List, cx: Context) -> Result<Json<Listed>, HandlerError> {
    let listed = cx.state::<Documents>()?.list_set(&set, &after, PAGE).await?;
    let is_full = u32::try_from(listed.len()).is_ok_and(|count| count == PAGE);
    let next = listed.last().filter(|_| is_full).map(|(slug, _)| slug.as_str().to_owned());
    let member = |(slug, hash): (Slug, _)| Member { slug: slug.as_str().to_owned(), hash };
    Ok(Json(Listed { documents: listed.into_iter().map(member).collect(), next }))
}

fn not_found(slug: &Slug) -> HandlerError {
    HandlerError::new(format!(
        "There is no document `{}`. Call search-documents to find documents by their text.",
        slug.as_str()
    ))
}
