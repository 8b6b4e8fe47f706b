//! The workflow `ingest`: stores many documents at once, all of them or none.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::{Context, HandlerError, Workflow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::Document;
use crate::store::Store;
use crate::tools::Saved;

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

/// Returns the workflow. It saves into `store`.
pub(crate) fn ingest<S: Store>(store: &Rc<S>) -> Workflow<Documents, Ingested> {
    let store = store.clone();
    Workflow::new("ingest")
        .title("Store documents")
        .describe("Creates many documents, or replaces those that have their slugs. All of them are stored or none.")
        .then("check", check)
        .then("store", move |documents: Documents, _: Context| save(store.clone(), documents))
        .retry(2, Duration::from_millis(200))
}

/// Rejects a slug that occurs twice: one of its documents would overwrite the other.
async fn check(given: Documents, _: Context) -> Result<Documents, HandlerError> {
    let mut seen = BTreeSet::new();
    match given.documents.iter().find(|document| !seen.insert(&document.slug)) {
        Some(duplicate) => Err(HandlerError::new(format!(
            "Two documents have the slug `{}`. Give each document its own slug. Nothing was stored.",
            duplicate.slug.as_str()
        ))),
        None => Ok(given),
    }
}

async fn save<S: Store>(store: Rc<S>, Documents { documents }: Documents) -> Result<Ingested, HandlerError> {
    store.save(&documents).await?;
    Ok(Ingested { documents: documents.iter().map(Saved::from).collect() })
}
