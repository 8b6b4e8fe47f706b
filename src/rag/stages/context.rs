//! The neighbours of passages in their sections.

use std::collections::BTreeMap;

use futures::FutureExt;

use super::{SearchStage, StageFuture, StageInput};
use crate::call::error::HandlerError;
use crate::limits::RAG_CONTEXT;
use crate::rag::passage::{Passage, PassageId};
use crate::rag::search::Search;
use crate::rag::search_result::{FoundPassage, SearchResult};
use crate::rag::store::SearchStore;

/// A position in a section: the document, the headings, and the position of the passage in the document.
type SectionPosition = (String, String, usize);

/// The passages that were found, and those around them, in the order of each document.
type ByPosition = BTreeMap<SectionPosition, SectionPart>;

struct SectionPart {
    text: String,
    /// The number of the kept passage that contains this one.
    owner: Option<usize>,
}

/// The number of neighbours that are added to a passage on each side.
pub(in crate::rag) struct SectionNeighbours(pub(in crate::rag) usize);

impl SearchStage for SectionNeighbours {
    fn problem(&self) -> Option<String> {
        (self.0 > RAG_CONTEXT).then(|| format!("`context` must be from 0 to {RAG_CONTEXT} (got {})", self.0))
    }

    fn apply<'a>(&'a self, mut found: SearchResult, input: &'a StageInput<'a>) -> StageFuture<'a> {
        async move {
            found.passages = add(input.store, input.search, found.passages, self.0).await?;
            Ok(found)
        }
        .boxed_local()
    }
}

/// Adds up to `neighbours` passages before and after each passage to its text.
async fn add(
    store: &dyn SearchStore,
    search: &Search,
    passages: Vec<FoundPassage>,
    neighbours: usize,
) -> Result<Vec<FoundPassage>, HandlerError> {
    let Search { space, filter, .. } = search;
    let ids: Vec<PassageId> = passages.iter().map(|found| found.passage.id).collect();
    let part = |passage: &Passage| (position(passage), SectionPart { text: passage.text.clone(), owner: None });
    let mut parts = ByPosition::new();
    if neighbours > 0 && !ids.is_empty() {
        parts.extend(store.neighbours(space, &ids, neighbours, filter).await?.iter().map(part));
    }
    // Two versions of a document can be at one position if it changes during the search. The better passage keeps its own text.
    parts.extend(passages.iter().rev().map(|found| part(&found.passage)));
    Ok(merged(passages, parts, neighbours))
}

/// Joins passages with their neighbours. A passage that is a neighbour of a better one becomes a part of it.
fn merged(passages: Vec<FoundPassage>, mut parts: ByPosition, neighbours: usize) -> Vec<FoundPassage> {
    let mut kept: Vec<FoundPassage> = Vec::new();
    for found in passages {
        let own = position(&found.passage);
        let sides = around(&own, &parts, neighbours);
        let owner_of = |position: &SectionPosition| parts.get(position)?.owner;
        let of_neighbours = || sides.iter().filter_map(|side| side.iter().find_map(owner_of)).min();
        let owner = owner_of(&own).or_else(of_neighbours).unwrap_or_else(|| {
            kept.push(found);
            kept.len().saturating_sub(1)
        });
        if let Some(part) = parts.get_mut(&own) {
            part.owner = Some(owner);
        }
        // The parts of each passage stay without gaps: the loop stops at a part of another passage.
        for side in sides {
            for position in side {
                let Some(part) = parts.get_mut(&position) else { break };
                if *part.owner.get_or_insert(owner) != owner {
                    break;
                }
            }
        }
    }
    for (nth, found) in kept.iter_mut().enumerate() {
        let own = parts.values().filter(|part| part.owner == Some(nth)).map(|part| part.text.as_str());
        found.passage.text = own.collect::<Vec<_>>().join("\n\n");
    }
    kept
}

/// Returns the positions before and after a position in its section, the nearest first.
fn around(own: &SectionPosition, parts: &ByPosition, neighbours: usize) -> [Vec<SectionPosition>; 2] {
    let (document, heading, ordinal) = own;
    let side = |at: fn(usize, usize) -> Option<usize>| {
        (1..=neighbours)
            .map_while(|distance| Some((document.clone(), heading.clone(), at(*ordinal, distance)?)))
            .take_while(|position| parts.contains_key(position))
            .collect()
    };
    [side(usize::checked_sub), side(usize::checked_add)]
}

fn position(passage: &Passage) -> SectionPosition {
    (passage.document.clone(), passage.heading.clone(), passage.ordinal)
}
