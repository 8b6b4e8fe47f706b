//! The tool that makes the vectors of passages that have none.

use edge_mcp::{Context, HandlerError, Json, Tool};
use schemars::JsonSchema;
use serde::Serialize;

use crate::scopes;
use crate::store::Documents;

#[derive(Serialize, JsonSchema)]
struct Reindexed {
    embedded: usize,
    pending: usize,
}

/// Returns the tool `run_reindex`.
pub(crate) fn reindex() -> Tool {
    Tool::new("run_reindex", "Makes missing vectors of passages. Call it until none is pending.", run)
        .title("Make vectors")
        .scopes([scopes::WRITE])
        .additive()
        .idempotent()
        .closed_world()
}

async fn run(cx: Context) -> Result<Json<Reindexed>, HandlerError> {
    let indexed = cx.state::<Documents>()?.reindex(&cx).await?;
    Ok(Json(Reindexed { embedded: indexed.embedded, pending: indexed.pending }))
}
