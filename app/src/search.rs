//! The tools that search.

use std::rc::Rc;

use edge_mcp::rag::{Fields, GraphOptions, Passage, Retriever, Search, SearchStore, SearchTool};
use edge_mcp::{App, Context, HandlerError, Json, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::uri_of;
use crate::excerpt::excerpt;
use crate::passages::INDEX;
use crate::scopes;
use crate::search_settings::SearchSettings;
use crate::store::Documents;

/// The name of the tool that searches documents.
pub(crate) const SEARCH_DOCUMENTS: &str = "search-documents";
/// The name of the tool that searches passages.
pub(crate) const SEARCH_PASSAGES: &str = "search-passages";
/// The name of the tool that finds connected passages.
pub(crate) const RELATED_PASSAGES: &str = "related-passages";

/// The maximum length of a query of search-documents, in characters.
const MAX_QUERY_CHARACTERS: usize = 500;

#[derive(Deserialize, JsonSchema)]
struct DocumentSearch {
    /// The words to search for, in any order
    #[schemars(length(min = 1, max = MAX_QUERY_CHARACTERS))]
    query: String,
    /// The maximum number of documents to return
    #[schemars(range(min = 1, max = 50))]
    #[serde(default = "default_limit")]
    limit: usize,
}

fn default_limit() -> usize {
    10
}

#[derive(Serialize, JsonSchema)]
struct Found {
    /// Best match first
    documents: Vec<Hit>,
}

// A document that matches the query, with a passage.
#[derive(Serialize, JsonSchema)]
struct Hit {
    /// The document's slug, as read-document expects it
    slug: String,
    title: String,
    /// The best matching passage
    snippet: String,
}

/// Returns the tool `search-documents`.
pub(crate) fn search_documents(settings: &SearchSettings) -> Tool {
    let description = match settings.embedder {
        Some(_) => {
            "Finds documents by the words and the meaning of the query, best match first, with a passage of each."
        }
        None => {
            "Finds documents that contain at least one word of the query, best match first, with a passage of each."
        }
    };
    Tool::new(SEARCH_DOCUMENTS, description, search)
        .title("Search documents")
        .scopes([scopes::READ])
        .read_only()
        .closed_world()
}

/// Returns the tool `search-passages`. Clients with support for apps show its result in `view`.
pub(crate) fn search_passages(settings: &SearchSettings, view: &App) -> Tool {
    SearchTool::new(retriever(settings))
        .name(SEARCH_PASSAGES)
        .filter(fields())
        .uri(|passage| Some(uri_of(&passage.document)))
        .tool()
        .title("Search passages")
        .ui(view)
        .scopes([scopes::READ])
}

/// Returns the tool `related-passages`, whose result is shown in the same way.
pub(crate) fn related_passages(settings: &SearchSettings, view: &App) -> Tool {
    SearchTool::new(retriever(settings).graph(GraphOptions::default()))
        .name(RELATED_PASSAGES)
        .description(
            "Finds passages connected to those that answer a question, for questions about relations between documents. \
             For one fact, use search-passages instead.",
        )
        .filter(fields())
        .uri(|passage| Some(uri_of(&passage.document)))
        .tool()
        .title("Find related passages")
        .ui(view)
        .scopes([scopes::READ])
}

/// Returns at most `limit` passages that answer a question best: one of each document, best match first.
pub(crate) async fn best_of_documents(
    question: &str,
    limit: usize,
    cx: &Context,
) -> Result<Vec<Passage>, HandlerError> {
    let retriever = retriever(&*cx.state::<SearchSettings>()?);
    let found = retriever.per_document(1).retrieve(Search::new(question).top_k(limit), cx).await?;
    Ok(found.passages.into_iter().map(|found| found.passage).collect())
}

async fn search(DocumentSearch { query, limit }: DocumentSearch, cx: Context) -> Result<Json<Found>, HandlerError> {
    let hit = |passage: Passage| Hit {
        title: passage.metadata.get("title").and_then(|title| title.as_str()).unwrap_or_default().to_owned(),
        snippet: excerpt(&passage.text, &query),
        slug: passage.document,
    };
    let passages = best_of_documents(&query, limit, &cx).await?;
    Ok(Json(Found { documents: passages.into_iter().map(hit).collect() }))
}

fn retriever(settings: &SearchSettings) -> Retriever {
    let mut retriever = Retriever::new(INDEX, store);
    if let Some(embedder) = &settings.embedder {
        retriever = retriever.embedder(embedder.clone());
    }
    if let Some(rerank) = &settings.rerank {
        retriever = retriever.rerank(rerank.clone());
    }
    retriever
}

async fn store(cx: Context) -> Result<Rc<dyn SearchStore>, HandlerError> {
    Ok(cx.state::<Documents>()?.passages())
}

/// Returns the fields by which a caller can filter. `with_passages` writes them.
fn fields() -> Fields {
    Fields::new()
        .text("slug", "Slug, which begins with the folders of the file, such as guides-")
        .text("title", "Title")
        .text("tags", "Tags")
}
