//! The workflow `ingest`, which stores many documents in one call: all of them, or none.

use edge_mcp::agents::Workflow;
use edge_mcp::{Context, HandlerError, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Document, Slug};
use crate::search_settings::SearchSettings;
use crate::store::{Documents, Failure, StoreError};
use crate::tools::{Embedded, Saved};

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Ingest {
    /// The documents to store
    #[schemars(length(min = 1, max = 100))]
    documents: Vec<Document>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Ingested {
    documents: Vec<Saved>,
}

/// Returns the workflow `ingest`.
pub(crate) fn ingest(settings: &SearchSettings) -> Workflow {
    const DESCRIPTION: &str = "Creates or replaces many documents. It stores all of them, or none.";
    let workflow = match settings.embedder {
        Some(_) => Workflow::new("ingest", DESCRIPTION, run_and_embed),
        None => Workflow::new("ingest", DESCRIPTION, run),
    };
    workflow.title("Store documents")
}

async fn run(Ingest { documents }: Ingest, cx: Context) -> Result<Json<Ingested>, HandlerError> {
    let stored = cx.state::<Documents>()?;
    let slugs: Vec<_> = documents.iter().map(|document| &document.slug).collect();
    cx.step("check", &slugs, async || check(&slugs)).await?;
    cx.step("store", &slugs, async || Ok(save(&stored, &documents).await?)).await?;
    Ok(Json(Ingested { documents: documents.iter().map(Saved::from).collect() }))
}

async fn run_and_embed(documents: Ingest, cx: Context) -> Result<Json<Embedded<Ingested>>, HandlerError> {
    let Json(ingested) = run(documents, cx.clone()).await?;
    Ok(Json(Embedded::new(ingested, cx.state::<Documents>()?.embed(&cx).await)))
}

/// Rejects a slug that occurs twice, because the second document would overwrite the first.
fn check(slugs: &[&Slug]) -> Result<(), HandlerError> {
    let is_repeated = |(nth, slug): &(usize, &&Slug)| slugs.iter().take(*nth).any(|earlier| earlier == *slug);
    match slugs.iter().enumerate().find(is_repeated) {
        Some((_, duplicate)) => Err(HandlerError::new(format!(
            "Two documents have the slug `{}`. Give each document its own slug. Nothing was stored.",
            duplicate.as_str()
        ))),
        None => Ok(()),
    }
}

/// Saves the documents. If the database does not answer, the function tries once more. Saving twice has no further effect.
async fn save(stored: &Documents, documents: &[Document]) -> Result<(), StoreError> {
    match stored.save(documents).await {
        Err(StoreError { failure: Failure::Unavailable, .. }) => stored.save(documents).await,
        saved => saved,
    }
}
