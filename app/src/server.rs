//! The knowledge base as a server: its tools, each document as a resource, and its prompts.

use std::rc::Rc;

use edge_mcp::protocol::content::ResourceContents;
use edge_mcp::protocol::description::ResourceDescription;
use edge_mcp::registry::Repository;
use edge_mcp::{BuildError, Completion, CompletionRequest, HandlerError, Json, McpServer, ResourceTemplate, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Document, Slug};
use crate::ingest::ingest;
use crate::librarian::Librarian;
use crate::prompts::{analyze_code, answer_from_documents};
use crate::store::{Hit, Store};

/// What a caller needs to read, and to write.
pub(crate) const READ: [&str; 1] = ["kb:read"];
const WRITE: [&str; 1] = ["kb:write"];

pub(crate) const MARKDOWN: &str = "text/markdown";

/// Characters of a query.
pub(crate) const QUERY: usize = 500;

#[derive(Deserialize, JsonSchema)]
struct Search {
    /// What to look for: words, in any order
    #[schemars(length(min = 1, max = QUERY))]
    query: String,
    /// How many documents to return at most
    #[schemars(range(min = 1, max = 50))]
    #[serde(default = "default_limit")]
    limit: u32,
}

fn default_limit() -> u32 {
    10
}

#[derive(Serialize, JsonSchema)]
struct Found {
    /// The documents that fit, best first
    documents: Vec<Hit>,
}

#[derive(Deserialize, JsonSchema)]
struct Read {
    /// The document's slug, as search-documents returns it
    #[schemars(with = "String", length(min = 1, max = 200))]
    slug: Slug,
}

/// What was saved.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Saved {
    /// The document's slug
    slug: String,
    /// The document as a resource
    uri: String,
}

impl From<&Document> for Saved {
    fn from(document: &Document) -> Self {
        Self { slug: document.slug.as_str().to_owned(), uri: document.slug.uri() }
    }
}

/// The variables of a document's URI.
#[derive(Deserialize)]
struct Address {
    slug: Slug,
}

/// The server, with its documents in `store`.
pub(crate) fn server<S: Store>(store: &Rc<S>, librarian: Option<&Librarian>) -> Result<McpServer, BuildError> {
    let [analyze_first, analyze_second] = analyze_code();
    let server = McpServer::builder("knowledge-base", env!("CARGO_PKG_VERSION"))
        .title("Knowledge base")
        .repository(Repository::new(env!("CARGO_PKG_REPOSITORY"), "github").subfolder("app"))
        .instructions(
            "A knowledge base of Markdown documents. Search it before you answer, read the documents that fit, and name \
             them. Save what is worth keeping as a document of its own.",
        )
        .tool(
            Tool::new("search-documents", with(store, search))
                .title("Search documents")
                .description("Finds the documents in which the words of a query occur, best first, with a passage of each.")
                .scopes(READ)
                .read_only()
                .closed_world(),
        )
        .tool(
            Tool::new("read-document", with(store, read))
                .title("Read a document")
                .description("Returns the whole text of one document, in Markdown.")
                .scopes(READ)
                .read_only()
                .closed_world(),
        )
        .tool(
            Tool::new("save-document", with(store, save))
                .title("Save a document")
                .description("Creates a document, or replaces the one that has this slug.")
                .scopes(WRITE)
                .destructive()
                .idempotent()
                .closed_world(),
        )
        .tool(Tool::of_workflow(ingest(store)).scopes(WRITE).destructive().idempotent().closed_world())
        .resource_template(
            ResourceTemplate::new("kb://documents/{slug}", with(store, read_resource))
                .name("document")
                .title("Document")
                .description("A document of the knowledge base, in Markdown.")
                .mime_type(MARKDOWN)
                .scopes(READ)
                .list({
                    let store = store.clone();
                    move || list(store.clone())
                })
                .complete("slug", {
                    let store = store.clone();
                    Completion::with(move |request, _| complete_slug(store.clone(), request))
                }),
        )
        .prompt(answer_from_documents(store))
        .prompt(analyze_first)
        .prompt(analyze_second);
    let server = match librarian {
        Some(librarian) => server.tool(Tool::of_agent(librarian.agent()).scopes(READ)),
        None => server.warn(Librarian::how_to_have_one()),
    };
    server.build()
}

/// A handler that works on `store`.
pub(crate) fn with<S, A, F>(store: &Rc<S>, handler: fn(Rc<S>, A) -> F) -> impl Fn(A) -> F + use<S, A, F> {
    let store = store.clone();
    move |arguments| handler(store.clone(), arguments)
}

async fn search<S: Store>(store: Rc<S>, Search { query, limit }: Search) -> Result<Json<Found>, HandlerError> {
    Ok(Json(Found { documents: store.search(&query, limit).await? }))
}

async fn read<S: Store>(store: Rc<S>, Read { slug }: Read) -> Result<String, HandlerError> {
    let document = store.read(&slug).await?;
    document.map(|document| document.text).ok_or_else(|| slug.not_found())
}

async fn save<S: Store>(store: Rc<S>, document: Document) -> Result<Json<Saved>, HandlerError> {
    store.save(std::slice::from_ref(&document)).await?;
    Ok(Json(Saved::from(&document)))
}

async fn read_resource<S: Store>(
    store: Rc<S>,
    Address { slug }: Address,
) -> Result<Option<ResourceContents>, HandlerError> {
    let document = store.read(&slug).await?;
    Ok(document.map(|document| ResourceContents::text(slug.uri(), document.text)))
}

async fn list<S: Store>(store: Rc<S>) -> Result<Vec<ResourceDescription>, HandlerError> {
    let describe = |(slug, title): (Slug, String)| {
        ResourceDescription::new(slug.uri(), slug.as_str().to_owned()).title(title).mime_type(MARKDOWN)
    };
    Ok(store.list().await?.into_iter().map(describe).collect())
}

/// The slugs that begin with what has been typed.
async fn complete_slug<S: Store>(
    store: Rc<S>,
    CompletionRequest { value, .. }: CompletionRequest,
) -> Result<Vec<String>, HandlerError> {
    let slugs = store.list().await?.into_iter().map(|(slug, _)| slug.as_str().to_owned());
    Ok(slugs.filter(|slug| slug.starts_with(&value)).collect())
}
