//! The passages that are connected with those that a search found.

use std::collections::{BTreeMap, BTreeSet};

use edge_json::number::text;
use futures::FutureExt;

use super::{SearchStage, StageFuture, StageInput, invalid_scope};
use crate::call::error::HandlerError;
use crate::rag::graph::{GraphOptions, Walk, walk};
use crate::rag::order::{descending, ordered};
use crate::rag::passage::PassageId;
use crate::rag::search::Search;
use crate::rag::search_result::{FoundPassage, SearchMode, SearchResult};
use crate::rag::store::SearchStore;

/// The number of passages at which walks start. With more, connections with passages that do not answer the question count too.
const SEEDS: usize = 2;
/// The number of connected passages that are read if only some passages of each document are taken, as a multiple of the passages to return.
const SPARE: usize = 3;

impl SearchStage for GraphOptions {
    fn problem(&self) -> Option<String> {
        self.problem()
    }

    fn apply<'a>(&'a self, mut found: SearchResult, input: &'a StageInput<'a>) -> StageFuture<'a> {
        async move {
            let options = input.graph.map_or(*self, |change| change(*self));
            if let Some(problem) = options.problem() {
                return Err(invalid_scope(&problem));
            }
            // Only some passages of each document are taken, so more are read.
            let most = if input.is_per_document { input.top_k.saturating_mul(SPARE) } else { input.top_k };
            found.mode = SearchMode::Graph;
            add(&mut found, input.store, input.search, most, &options).await?;
            Ok(found)
        }
        .boxed_local()
    }
}

/// Adds the connection with the best passages to the score of each passage, and adds at most `most` passages that were not found. The best
/// passage stays the first. Adds a remark if there are no edges.
async fn add(
    found: &mut SearchResult,
    store: &dyn SearchStore,
    search: &Search,
    most: usize,
    options: &GraphOptions,
) -> Result<(), HandlerError> {
    let Search { space, filter, .. } = search;
    let seeds: Vec<_> = found.passages.iter().take(SEEDS).map(|seed| (seed.passage.id, seed.score.max(0.0))).collect();
    let Some((best, _)) = seeds.first().copied() else { return Ok(()) };
    let ids: Vec<_> = seeds.iter().map(|(id, _)| *id).collect();
    let edges = store.edges(space, &ids, options.threshold, filter).await?;
    let Walk { shares, has_edges } = walk(&seeds, &edges, options);
    if !has_edges {
        found.remark(&format!(
            "The passages have no connections that are stronger than {}, so their order is that of a search.",
            text(options.threshold)
        ));
    }

    let known: BTreeSet<_> = found.passages.iter().map(|found| found.passage.id).collect();
    let new: Vec<PassageId> = shares.iter().map(|(id, _)| *id).filter(|id| !known.contains(id)).take(most).collect();
    if !new.is_empty() {
        let contains = |text: &str| search.containing.as_ref().is_none_or(|part| text.contains(part));
        let connected =
            store.passages(space, &new, filter).await?.into_iter().filter(|passage| contains(&passage.text));
        found.passages.extend(connected.map(|passage| FoundPassage::new(passage, 0.0)));
    }

    let shares: BTreeMap<_, _> = shares.into_iter().collect();
    // A sum of shares is at most the sum of the similarities.
    let sum = seeds.iter().map(|(_, similarity)| similarity).sum::<f64>().max(f64::MIN_POSITIVE);
    for found in &mut found.passages {
        let share = shares.get(&found.passage.id).copied().unwrap_or_default();
        found.graph = Some(share / sum);
        found.score += share;
    }
    // The best passage stays the first, and no score is more than 1.
    let greatest = found.passages.iter().map(|found| found.score).fold(0.0, f64::max);
    for found in &mut found.passages {
        if found.passage.id == best {
            found.score = greatest;
        }
        found.score /= greatest.max(1.0);
    }
    found.passages = ordered(std::mem::take(&mut found.passages), |found| {
        let similarity = found.similarity.unwrap_or_default();
        [i64::from(found.passage.id != best), descending(found.score), descending(similarity)]
    });
    Ok(())
}
