//! The neighbours of passages in their sections.

use std::collections::{BTreeMap, BTreeSet};

use crate::call::error::HandlerError;
use crate::rag::filter::Filter;
use crate::rag::retrieved::RetrievedPassage;
use crate::rag::store::{Passage, PassageId, PassageStore, Space};

/// Edges that are heavier than this connect the passages of one section.
const SECTION: f64 = 0.95;
/// Neighbours that one call of [`PassageStore::edges`] reaches.
const HOPS: usize = 2;

/// A position in a section: the document, the headings, and the position of the passage in the document.
type Position = (String, String, usize);

/// Adds up to `neighbours` passages before and after each passage to its text.
pub(super) async fn add(
    store: &dyn PassageStore,
    space: &Space,
    filter: &Filter,
    passages: Vec<RetrievedPassage>,
    neighbours: usize,
) -> Result<Vec<RetrievedPassage>, HandlerError> {
    let mut known: BTreeSet<PassageId> = passages.iter().map(|found| found.passage.id).collect();
    let mut reached = 0;
    while reached < neighbours {
        let ids: Vec<_> = known.iter().copied().collect();
        let edges = store.edges(space, &ids, SECTION, filter).await?;
        known.extend(edges.iter().map(|edge| edge.target));
        reached = reached.saturating_add(HOPS);
    }
    let found: BTreeSet<PassageId> = passages.iter().map(|found| found.passage.id).collect();
    let missing: Vec<_> = known.difference(&found).copied().collect();
    let mut texts: BTreeMap<Position, String> = BTreeMap::new();
    if !missing.is_empty() {
        let others = store.passages(space, &missing, filter).await?;
        texts.extend(others.into_iter().map(|passage| (position(&passage), passage.text)));
    }
    texts.extend(passages.iter().map(|found| (position(&found.passage), found.passage.text.clone())));
    Ok(merged(passages, &texts, neighbours))
}

/// Joins passages with their neighbours. A passage that is a neighbour of a better one becomes a part of it.
fn merged(
    passages: Vec<RetrievedPassage>,
    texts: &BTreeMap<Position, String>,
    neighbours: usize,
) -> Vec<RetrievedPassage> {
    // For each position, the passage in `kept` that contains it.
    let mut owners: BTreeMap<Position, usize> = BTreeMap::new();
    let mut kept: Vec<RetrievedPassage> = Vec::new();
    for found in passages {
        let own = position(&found.passage);
        let sides = around(&own, texts, neighbours);
        let nearest = |side: &Vec<Position>| side.iter().find_map(|position| owners.get(position).copied());
        let owner = owners.get(&own).copied().or_else(|| sides.iter().filter_map(nearest).min());
        let owner = owner.unwrap_or_else(|| {
            kept.push(found);
            kept.len().saturating_sub(1)
        });
        owners.insert(own, owner);
        // The positions of each passage stay without gaps: the loop stops at the positions of another passage.
        for side in sides {
            for position in side {
                if *owners.entry(position).or_insert(owner) != owner {
                    break;
                }
            }
        }
    }
    for (nth, found) in kept.iter_mut().enumerate() {
        // Positions are in the order of the document.
        let own = owners.iter().filter(|(_, owner)| **owner == nth).filter_map(|(position, _)| texts.get(position));
        found.passage.text = own.map(String::as_str).collect::<Vec<_>>().join("\n\n");
    }
    kept
}

/// Returns the positions before and after a position in its section, the nearest first.
fn around(own: &Position, texts: &BTreeMap<Position, String>, neighbours: usize) -> [Vec<Position>; 2] {
    let (document, heading, ordinal) = own;
    let side = |at: fn(usize, usize) -> Option<usize>| {
        (1..=neighbours)
            .map_while(|distance| Some((document.clone(), heading.clone(), at(*ordinal, distance)?)))
            .take_while(|position| texts.contains_key(position))
            .collect()
    };
    [side(usize::checked_sub), side(usize::checked_add)]
}

fn position(passage: &Passage) -> Position {
    (passage.document.clone(), passage.heading.clone(), passage.ordinal)
}
