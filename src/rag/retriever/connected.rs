//! The passages that are connected with those that a search found.

use edge_json::number::text;

use crate::call::error::HandlerError;
use crate::rag::filter::Filter;
use crate::rag::graph::{GraphOptions, walk};
use crate::rag::retrieved::RetrievedPassage;
use crate::rag::store::{PassageId, PassageStore, Space};

/// Returns at most `most` passages in the order of walks from `seeds`, and a note if the walks had no edges.
pub(super) async fn find(
    store: &dyn PassageStore,
    space: &Space,
    filter: &Filter,
    seeds: Vec<RetrievedPassage>,
    most: usize,
    options: &GraphOptions,
) -> Result<(Vec<RetrievedPassage>, Option<String>), HandlerError> {
    if seeds.is_empty() {
        return Ok((seeds, None));
    }
    let similarities: Vec<_> = seeds.iter().map(|seed| (seed.passage.id, seed.score)).collect();
    let ids: Vec<_> = similarities.iter().map(|(id, _)| *id).collect();
    let edges = store.edges(space, &ids, options.threshold, filter).await?;
    let walk = walk(&similarities, &edges, options);
    let best: Vec<_> = walk.scores.into_iter().filter(|(_, expected)| *expected > 0.0).take(most).collect();

    let missing: Vec<_> = best.iter().map(|(id, _)| *id).filter(|id| !ids.contains(id)).collect();
    let mut known = seeds;
    if !missing.is_empty() {
        let connected = store.passages(space, &missing, filter).await?.into_iter();
        known.extend(connected.map(|passage| RetrievedPassage { passage, score: 0.0, lexical: None, graph: None }));
    }
    // A node can have at most the sum of the similarities.
    let sum = similarities.iter().map(|(_, similarity)| similarity).sum::<f64>().max(f64::MIN_POSITIVE);
    let found = |(id, expected): (PassageId, f64)| {
        let share = (expected / sum).min(1.0);
        let position = known.iter().position(|found| found.passage.id == id)?;
        Some(RetrievedPassage { score: share, graph: Some(share), ..known.swap_remove(position) })
    };
    let passages = best.into_iter().filter_map(found).collect();
    let note = (!walk.has_edges).then(|| {
        format!(
            "The passages have no connections that are stronger than {}, so their order is that of a search.",
            text(options.threshold)
        )
    });
    Ok((passages, note))
}
