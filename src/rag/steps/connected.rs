//! The passages that are connected with those that a search found.

use edge_json::number::text;
use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::{INVALID, Searched, Step};
use crate::call::error::HandlerError;
use crate::rag::graph::{GraphOptions, WalkOverrides, walk};
use crate::rag::passage::PassageId;
use crate::rag::search::Search;
use crate::rag::search_result::{FoundPassage, SearchMode, SearchResult};
use crate::rag::store::SearchStore;

/// The number of nodes that are read if only some passages of each document are taken, as a multiple of the passages to return.
const SPARE_NODES: usize = 3;

impl Step for GraphOptions {
    fn problem(&self) -> Option<String> {
        self.problem()
    }

    fn apply<'a>(
        &'a self,
        mut found: SearchResult,
        of: &'a Searched<'a>,
    ) -> LocalBoxFuture<'a, Result<SearchResult, HandlerError>> {
        async move {
            let options = with_overrides(*self, of.walks)?;
            found.passages.truncate(of.top_k);
            // Only some nodes of each document are taken, so more are read.
            let nodes = if of.is_per_document { of.top_k.saturating_mul(SPARE_NODES) } else { of.top_k };
            add(found, of.store, of.search, nodes, &options).await
        }
        .boxed_local()
    }
}

/// Replaces the passages by at most `most` passages in the order of walks from them. Adds a remark if the walks had no edges.
async fn add(
    found: SearchResult,
    store: &dyn SearchStore,
    search: &Search,
    most: usize,
    options: &GraphOptions,
) -> Result<SearchResult, HandlerError> {
    let mut found = SearchResult { mode: SearchMode::Graph, ..found };
    if found.passages.is_empty() {
        return Ok(found);
    }
    let Search { space, filter, .. } = search;
    let similarities: Vec<_> = found.passages.iter().map(|seed| (seed.passage.id, seed.score)).collect();
    let ids: Vec<_> = similarities.iter().map(|(id, _)| *id).collect();
    let edges = store.edges(space, &ids, options.threshold, filter).await?;
    let walk = walk(&similarities, &edges, options);
    let best: Vec<_> = walk.scores.into_iter().filter(|(_, expected)| *expected > 0.0).take(most).collect();

    let missing: Vec<_> = best.iter().map(|(id, _)| *id).filter(|id| !ids.contains(id)).collect();
    if !missing.is_empty() {
        let connected = store.passages(space, &missing, filter).await?.into_iter();
        found.passages.extend(connected.map(|passage| FoundPassage::new(passage, 0.0)));
    }
    // A node can have at most the sum of the similarities.
    let sum = similarities.iter().map(|(_, similarity)| similarity).sum::<f64>().max(f64::MIN_POSITIVE);
    let mut known = found.passages;
    let scored = |(id, expected): (PassageId, f64)| {
        let share = (expected / sum).min(1.0);
        let position = known.iter().position(|found| found.passage.id == id)?;
        Some(FoundPassage { score: share, graph: Some(share), ..known.swap_remove(position) })
    };
    found.passages = best.into_iter().filter_map(scored).collect();
    if !walk.has_edges {
        found.remark(&format!(
            "The passages have no connections that are stronger than {}, so their order is that of a search.",
            text(options.threshold)
        ));
    }
    Ok(found)
}

/// Returns the options of the walks of a request.
fn with_overrides(options: GraphOptions, chosen: &WalkOverrides) -> Result<GraphOptions, HandlerError> {
    let options = GraphOptions {
        random_walk_steps: chosen.steps.unwrap_or(options.random_walk_steps),
        restart_prob: chosen.restart_prob.unwrap_or(options.restart_prob),
        ..options
    };
    match options.problem() {
        Some(problem) => {
            let problem = format!("a setting of `SearchScope` is not valid: {problem}");
            Err(HandlerError::new(INVALID).because(problem))
        }
        None => Ok(options),
    }
}
