//! Tools on the documents of a tenant. The header `Tenant` names the tenant.

use edge_mcp::rag::{
    ChunkOptions, Document, Fields, Filter, GraphOptions, Link, Retriever, SaveStore, SearchScope, SearchTool, Space,
    SqlitePassages, chunks,
};
use edge_mcp::{BuildError, Context, HandlerError, RequestInfo, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, json};

const INDEX: &str = "docs";

/// The tenant of a request.
struct Tenant(String);

/// Puts the tenant into the request. All tools search only in the space of the tenant, and find only published documents.
pub(crate) fn admit(request: &RequestInfo) {
    if let Some(tenant) = request.header("Tenant") {
        request.extend(SearchScope::new().space(tenant.as_str()).within(Filter::eq("status", "published")));
        request.extend(Tenant(tenant));
    }
}

pub(crate) fn tools(request: &RequestInfo) -> Result<[Tool; 3], BuildError> {
    let store = request.state::<SqlitePassages>()?;
    let fields = Fields::new().text("status", "Whether the document is published");
    let docs = Retriever::new(INDEX, store).spaces_required();
    let search = SearchTool::new(docs.clone()).filter(fields.clone()).tool();
    let related = SearchTool::new(docs.graph(GraphOptions::default())).filter(fields).tool();
    Ok([search, related, Tool::new("save", "Saves a document of the tenant.", save)])
}

#[derive(Deserialize, JsonSchema)]
struct Saved {
    document: String,
    text: String,
    status: String,
    links: Vec<String>,
}

async fn save(Saved { document: name, text, status, links }: Saved, cx: Context) -> Result<(), HandlerError> {
    let tenant = cx.extension::<Tenant>().ok_or_else(|| HandlerError::new("There is no tenant."))?;
    let space = Space { index: INDEX.into(), name: tenant.0.clone() };
    let metadata = Map::from_iter([("status".to_owned(), json!(status))]);
    let mut chunks = chunks(&text, &ChunkOptions::new());
    for chunk in &mut chunks {
        chunk.links = links.iter().map(|name| Link { document: name.clone(), section: None }).collect();
    }
    let document = Document { name, metadata, chunks };
    cx.state::<SqlitePassages>()?.save(&space, &document).await?;
    Ok(())
}
