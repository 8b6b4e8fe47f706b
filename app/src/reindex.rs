//! The tool that makes the vectors of passages that have none.

use edge_mcp::tasks::Task;
use edge_mcp::{Context, HandlerError, Json, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scopes;
use crate::store::Documents;

#[derive(Deserialize, Serialize, JsonSchema)]
struct Reindexed {
    embedded: usize,
    pending: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// Returns the tool `run_reindex`. Its calls are durable tasks: the vectors of many documents take longer than a request.
pub(crate) fn reindex() -> Tool {
    Tool::new("run_reindex", "Makes missing vectors of passages. Call it until none is pending.", run)
        .title("Make vectors")
        .scopes([scopes::WRITE])
        .additive()
        .idempotent()
        .closed_world()
        .task(Task::new())
}

/// Makes vectors. In a task, it makes all of them. Otherwise it makes as many as fit into a request.
async fn run(cx: Context) -> Result<Json<Reindexed>, HandlerError> {
    let (mut all, mut last_note) = (None, None);
    loop {
        let Reindexed { embedded, pending, note } = cx.step("make vectors", &(), async || make(&cx).await).await?;
        // A step that was interrupted has made vectors that its second run does not count.
        let all = *all.get_or_insert(embedded.saturating_add(pending));
        let made = all.saturating_sub(pending).max(embedded);
        last_note = note.or(last_note);
        if pending == 0 || embedded == 0 || cx.task().is_none() {
            return Ok(Json(Reindexed { embedded: made, pending, note: last_note }));
        }
        cx.progress(as_number(made), Some(as_number(all)), format!("{made} vectors made, {pending} pending"));
    }
}

async fn make(cx: &Context) -> Result<Reindexed, HandlerError> {
    let indexed = cx.state::<Documents>()?.reindex(cx).await?;
    Ok(Reindexed { embedded: indexed.embedded, pending: indexed.pending, note: indexed.note })
}

/// Counts of passages are far below 2^32, so an `f64` represents them exactly.
fn as_number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
