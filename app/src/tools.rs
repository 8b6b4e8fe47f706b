//! The tools that search, read and save documents.

use edge_mcp::{Context, HandlerError, Json, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Document, Slug};
use crate::scopes;
use crate::store::{Documents, Hit, MAX_QUERY_CHARACTERS};

/// The name of the tool that searches documents.
pub(crate) const SEARCH_DOCUMENTS: &str = "search-documents";
/// The name of the tool that reads one document.
pub(crate) const READ_DOCUMENT: &str = "read-document";

#[derive(Deserialize, JsonSchema)]
struct Search {
    /// The words to search for, in any order
    #[schemars(length(min = 1, max = MAX_QUERY_CHARACTERS))]
    query: String,
    /// The maximum number of documents to return
    #[schemars(range(min = 1, max = 50))]
    #[serde(default = "default_limit")]
    limit: u32,
}

fn default_limit() -> u32 {
    10
}

#[derive(Serialize, JsonSchema)]
struct Found {
    /// The matching documents, best match first
    documents: Vec<Hit>,
}

#[derive(Deserialize, JsonSchema)]
struct Read {
    /// The document's slug, as search-documents returns it
    #[schemars(with = "String", length(min = 1, max = 200))]
    slug: Slug,
}

/// A saved document.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Saved {
    /// The document's slug
    slug: String,
    /// The URI of the document as a resource
    uri: String,
}

impl From<&Document> for Saved {
    fn from(document: &Document) -> Self {
        Self { slug: document.slug.as_str().to_owned(), uri: document.slug.uri() }
    }
}

/// Returns the tool `search-documents`.
pub(crate) fn search_documents() -> Tool {
    Tool::new(
        SEARCH_DOCUMENTS,
        "Finds documents that contain at least one word of the query, best match first, with a passage of each.",
        search,
    )
    .title("Search documents")
    .scopes([scopes::READ])
    .read_only()
    .closed_world()
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
pub(crate) fn save_document() -> Tool {
    Tool::new("save-document", "Creates a document, or replaces the document with the same slug.", save)
        .title("Save a document")
        .scopes([scopes::WRITE])
        .destructive()
        .idempotent()
        .closed_world()
}

async fn search(Search { query, limit }: Search, cx: Context) -> Result<Json<Found>, HandlerError> {
    let documents = cx.state::<Documents>()?;
    Ok(Json(Found { documents: documents.search(&query, limit).await? }))
}

async fn read(Read { slug }: Read, cx: Context) -> Result<String, HandlerError> {
    let document = cx.state::<Documents>()?.read(&slug).await?;
    document.map(|document| document.text).ok_or_else(|| not_found(&slug))
}

async fn save(document: Document, cx: Context) -> Result<Json<Saved>, HandlerError> {
    cx.state::<Documents>()?.save(std::slice::from_ref(&document)).await?;
    Ok(Json(Saved::from(&document)))
}

fn not_found(slug: &Slug) -> HandlerError {
    HandlerError::new(format!(
        "There is no document `{}`. Call search-documents to find documents by their text.",
        slug.as_str()
    ))
}
