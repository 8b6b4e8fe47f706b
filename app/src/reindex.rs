//! The workflow `reindex`, which stores the passages of documents that an earlier version of the knowledge base stored without passages.

use std::time::Duration;

use edge_mcp::{Context, HandlerError, Json, Workflow};
use schemars::JsonSchema;
use serde::Serialize;

use crate::store::Documents;

/// The most documents of one call.
const DOCUMENTS: u32 = 200;
/// The most documents of one transaction.
const TOGETHER: u32 = 20;
/// The most transactions of one call. A transaction that competes with another client may complete no document.
const TRANSACTIONS: u32 = 40;
/// The deadline of a call.
pub(crate) const DEADLINE: Duration = Duration::from_mins(1);
/// A call begins no transaction after this time. The largest transaction takes less than the rest of the time until the deadline.
const BEGIN_MS: u64 = 30_000;

#[derive(Serialize, JsonSchema)]
struct Reindexed {
    /// The number of documents whose passages were stored by this call
    documents: u32,
    /// The number of documents that still have no passages. If it is not 0, call the tool again
    remaining: u32,
}

/// Returns the workflow `reindex`.
pub(crate) fn reindex() -> Workflow {
    const DESCRIPTION: &str = "Stores the passages of documents from earlier versions of this knowledge base, at most 200 \
                               documents per call. Returns the number of documents that remain.";
    Workflow::new("reindex", DESCRIPTION, run).title("Store passages of older documents")
}

async fn run(cx: Context) -> Result<Json<Reindexed>, HandlerError> {
    let stored = cx.state::<Documents>()?;
    let start = cx.now_ms();
    let mut documents = 0;
    let mut remaining = stored.count_unindexed().await?;
    for _ in 0..TRANSACTIONS {
        let left = TOGETHER.min(DOCUMENTS.saturating_sub(documents));
        if remaining == 0 || left == 0 || cx.now_ms().saturating_sub(start) > BEGIN_MS {
            break;
        }
        documents = documents.saturating_add(stored.reindex(left).await?);
        remaining = stored.count_unindexed().await?;
        cx.progress(f64::from(documents), None, format!("{remaining} documents remain"));
    }
    Ok(Json(Reindexed { documents, remaining }))
}
