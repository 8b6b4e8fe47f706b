//! The workflow `ingest`: many documents at once, all of them or none.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::Workflow;
use edge_mcp::{Context, HandlerError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::Document;
use crate::server::Saved;
use crate::store::Store;

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Documents {
    /// The documents: all of them are stored, or none
    #[schemars(length(min = 1, max = 100))]
    documents: Vec<Document>,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Ingested {
    /// What was stored, in the order in which it was given
    documents: Vec<Saved>,
}

/// The workflow, into `store`.
pub(crate) fn ingest<S: Store>(store: &Rc<S>) -> Workflow<Documents, Ingested> {
    let store = store.clone();
    Workflow::new("ingest")
        .title("Store documents")
        .describe("Creates many documents, or replaces those that have their slugs. All of them are stored or none.")
        .then("check", check)
        .then("store", move |documents: Documents, _: Context| keep(store.clone(), documents))
        .retry(2, Duration::from_millis(200))
}

/// Of two documents with one slug, one would be lost.
async fn check(given: Documents, _: Context) -> Result<Documents, HandlerError> {
    let mut seen = BTreeSet::new();
    match given.documents.iter().find(|document| !seen.insert(&document.slug)) {
        Some(twin) => Err(HandlerError::new(format!(
            "Two documents have the slug `{}`. Give each its own; nothing was stored.",
            twin.slug.as_str()
        ))),
        None => Ok(given),
    }
}

async fn keep<S: Store>(store: Rc<S>, Documents { documents }: Documents) -> Result<Ingested, HandlerError> {
    store.save(&documents).await?;
    Ok(Ingested { documents: documents.iter().map(Saved::from).collect() })
}
