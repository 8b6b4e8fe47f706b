//! Tools on the documents of a tenant. The header `Tenant` names the tenant. With the header `Meaning`, documents get vectors, and a search
//! also uses them.

use edge_mcp::rag::{
    ChunkOptions, Document, Embedder, Fields, Filter, GraphOptions, Indexer, Link, Purpose, Retriever, SaveStore,
    SearchScope, SearchTool, Space, SqliteVectors, chunks,
};
use edge_mcp::{BuildError, Context, HandlerError, RequestInfo, Tool};
use futures::future::{FutureExt, LocalBoxFuture, ready};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, json};

const INDEX: &str = "docs";

/// The tenant of a request.
struct Tenant {
    name: String,
    has_vectors: bool,
}

/// The number of dimensions of a vector.
const DIMENSIONS: usize = 64;

/// An embedding model that counts pairs of bytes.
struct Pairs;

impl Embedder for Pairs {
    fn model(&self) -> String {
        "pairs".to_owned()
    }

    fn embed(
        &self,
        texts: Vec<String>,
        _: Purpose,
        _: &Context,
    ) -> LocalBoxFuture<'static, Result<Vec<Vec<f32>>, HandlerError>> {
        let vector = |text: &String| {
            let mut vector = vec![0.0; DIMENSIONS];
            for pair in text.to_lowercase().as_bytes().windows(2) {
                let hash =
                    pair.iter().fold(7, |hash: usize, byte| hash.wrapping_mul(31).wrapping_add(usize::from(*byte)));
                if let Some(count) = vector.get_mut(hash % DIMENSIONS) {
                    *count += 1.0;
                }
            }
            vector
        };
        ready(Ok(texts.iter().map(vector).collect())).boxed_local()
    }
}

/// Puts the tenant into the request. All tools search only in the space of the tenant, and find only published documents.
pub(crate) fn admit(request: &RequestInfo) {
    if let Some(tenant) = request.header("Tenant") {
        request.extend(SearchScope::new().space(tenant.as_str()).within(Filter::eq("status", "published")));
        request.extend(Tenant { name: tenant, has_vectors: has_vectors(request) });
    }
}

fn has_vectors(request: &RequestInfo) -> bool {
    request.header("Meaning").is_some()
}

pub(crate) fn tools(request: &RequestInfo) -> Result<[Tool; 3], BuildError> {
    let store = request.state::<SqliteVectors>()?;
    let fields = Fields::new().text("status", "Whether the document is published");
    let docs = Retriever::new(INDEX, store).spaces_required();
    let docs = if has_vectors(request) { docs.embedder(Pairs) } else { docs };
    let search = SearchTool::new(docs.clone()).filter(fields.clone()).tool();
    let related = SearchTool::new(docs.graph(GraphOptions::default())).filter(fields).tool();
    Ok([search, related, Tool::new("save", "Saves a document of the tenant.", save)])
}

#[derive(Deserialize, JsonSchema)]
struct SaveCounts {
    document: String,
    text: String,
    status: String,
    links: Vec<String>,
}

async fn save(SaveCounts { document: name, text, status, links }: SaveCounts, cx: Context) -> Result<(), HandlerError> {
    let tenant = cx.extension::<Tenant>().ok_or_else(|| HandlerError::new("There is no tenant."))?;
    let space = Space { index: INDEX.into(), name: tenant.name.clone() };
    let metadata = Map::from_iter([("status".to_owned(), json!(status))]);
    let mut chunks = chunks(&text, &ChunkOptions::new());
    for chunk in &mut chunks {
        chunk.links = links.iter().map(|name| Link { document: name.clone(), section: None }).collect();
    }
    let document = Document { name, metadata, chunks };
    let store = cx.state::<SqliteVectors>()?;
    if !tenant.has_vectors {
        store.save(&space, &document).await?;
        return Ok(());
    }
    match Indexer::new(store, Pairs).save(&space, &document, &cx).await?.note {
        Some(note) => Err(HandlerError::new(note)),
        None => Ok(()),
    }
}
