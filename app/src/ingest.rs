//! The workflow `ingest`: stores many documents at once, all of them or none.

use std::collections::BTreeSet;
use std::rc::Rc;

use edge_mcp::{Context, HandlerError, Json, Workflow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::Document;
use crate::store::Store;
use crate::tools::Saved;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Documents {
    /// The documents: all of them are stored, or none
    #[schemars(length(min = 1, max = 100))]
    documents: Vec<Document>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Ingested {
    /// What was stored, in the order in which it was given
    documents: Vec<Saved>,
}

/// Returns the workflow. It saves into `store`.
pub(crate) fn ingest<S: Store>(store: &Rc<S>) -> Workflow {
    let store = store.clone();
    let description =
        "Creates many documents, or replaces those that have their slugs. All of them are stored or none.";
    let handler = move |Documents { documents }: Documents, cx: Context| {
        let store = store.clone();
        async move {
            cx.step("check", &(), async || check(&documents)).await?;
            cx.step("store", &(), async || Ok(store.save(&documents).await?)).await?;
            Ok::<_, HandlerError>(Json(Ingested { documents: documents.iter().map(Saved::from).collect() }))
        }
    };
    Workflow::new("ingest", description, handler).title("Store documents")
}

/// Rejects a slug that occurs twice: one of its documents would overwrite the other.
fn check(documents: &[Document]) -> Result<(), HandlerError> {
    let mut seen = BTreeSet::new();
    match documents.iter().find(|document| !seen.insert(&document.slug)) {
        Some(duplicate) => Err(HandlerError::new(format!(
            "Two documents have the slug `{}`. Give each document its own slug. Nothing was stored.",
            duplicate.slug.as_str()
        ))),
        None => Ok(()),
    }
}
